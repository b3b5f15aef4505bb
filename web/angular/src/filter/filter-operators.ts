import type { Column, ColumnType, Condition, FilterValue, Operator, Value } from '@evergrid/client';
import { formatted } from '../format/format.js';

/** How many values an operator takes. */
export type Arity = 'none' | 'one' | 'two' | 'list';

export interface OperatorChoice {
  readonly op: Operator;
  readonly label: string;
}

const LABELS: Record<Operator, string> = {
  contains: 'contains',
  starts_with: 'starts with',
  equals: 'is',
  not: 'is not',
  in: 'is one of',
  less: 'less than',
  less_or_equal: 'at most',
  greater: 'greater than',
  greater_or_equal: 'at least',
  between: 'between',
  is_null: 'is empty',
  not_null: 'is not empty',
};

const TIME_LABELS: Partial<Record<Operator, string>> = {
  less: 'before',
  less_or_equal: 'until',
  greater: 'after',
  greater_or_equal: 'since',
};

const COMPARISONS: readonly Operator[] = [
  'less',
  'less_or_equal',
  'greater',
  'greater_or_equal',
  'between',
];
const NULL_CHECKS: readonly Operator[] = ['is_null', 'not_null'];

/** The operators for a type, the most used first. */
export function operatorsFor(type: ColumnType): readonly OperatorChoice[] {
  return operators(type).map((op) => ({ op, label: operatorLabel(op, type) }));
}

function operators({ kind }: ColumnType): readonly Operator[] {
  switch (kind) {
    case 'text':
      return ['contains', 'equals', 'starts_with', 'not', 'in', ...COMPARISONS, ...NULL_CHECKS];
    case 'boolean':
      return ['equals', 'not', ...NULL_CHECKS];
    case 'timestamp':
      return ['greater_or_equal', 'less', 'between', 'greater', 'less_or_equal', ...NULL_CHECKS];
    default:
      return ['equals', 'not', ...COMPARISONS, 'in', ...NULL_CHECKS];
  }
}

/** Whether the gateway accepts an operator for a type; forms offer fewer. */
export function accepts(op: Operator, { kind }: ColumnType): boolean {
  if (op === 'contains' || op === 'starts_with') return kind === 'text';
  return kind !== 'boolean' || !COMPARISONS.includes(op);
}

export function operatorLabel(op: Operator, { kind }: ColumnType): string {
  return (kind === 'timestamp' && TIME_LABELS[op]) || LABELS[op];
}

export function arityOf(op: Operator): Arity {
  if (op === 'is_null' || op === 'not_null') return 'none';
  if (op === 'in') return 'list';
  return op === 'between' ? 'two' : 'one';
}

/** A condition as text: `balance between 100.00 and 200.00`. */
export function conditionText(condition: Condition, column: Column | undefined): string {
  const type = column?.type ?? { kind: 'text' };
  const values = valuesOf(condition).map((value) => valueText(value, type));
  const joined = condition.op === 'between' ? values.join(' and ') : listed(values);
  return [condition.column, operatorLabel(condition.op, type), joined].filter(Boolean).join(' ');
}

export function valuesOf({ value }: Condition): readonly FilterValue[] {
  if (value === undefined) return [];
  return typeof value === 'object' ? value : [value];
}

function listed(values: readonly string[]): string {
  return values.length > 3
    ? `${values.slice(0, 3).join(', ')} … (${values.length})`
    : values.join(', ');
}

function valueText(value: FilterValue, type: ColumnType): string {
  if (type.kind === 'text') return `“${value}”`;
  if (type.kind === 'boolean') return formatted(value, type);
  if (type.kind !== 'timestamp') return String(value);
  const micros = typeof value === 'number' ? value : Date.parse(String(value)) * 1000;
  return Number.isNaN(micros) ? String(value) : formatted(micros as Value, type);
}
