/** Exact values from Arrow columns. */

import { Type, type Batch } from '@uwdata/flechette';
import type { Value } from './types.js';

/** The value at a position of a column. */
export type Reader = (index: number) => Value;

// Without ignoreBOM, a leading U+FEFF would be removed.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

const WORD = 2 ** 32;

/** A reader for one column of a record batch, by its Arrow type. */
export function reader(batch: Batch<unknown>): Reader {
  const read = present(batch);
  const { validity } = batch;
  if (!batch.nullCount || !validity?.length) return read;
  return (index) => ((validity[index >> 3]! >> (index & 7)) & 1 ? read(index) : null);
}

function present(batch: Batch<unknown>): Reader {
  const { type, values, offsets } = batch;
  switch (type.typeId) {
    case Type.Utf8:
      return texts(values as Uint8Array, offsets as Int32Array);
    case Type.Int:
    case Type.Timestamp:
      return integers(values as BigInt64Array);
    case Type.Float:
      return (index) => (values as Float64Array)[index]!;
    case Type.Decimal:
      return decimals(values as BigUint64Array, (type as { scale: number }).scale);
    case Type.Bool:
      return (index) => (((values as Uint8Array)[index >> 3]! >> (index & 7)) & 1) === 1;
    default:
      throw new TypeError(`unsupported Arrow type ${type.typeId}`);
  }
}

function texts(bytes: Uint8Array, offsets: Int32Array): Reader {
  return (index) => utf8.decode(bytes.subarray(offsets[index]!, offsets[index + 1]!));
}

/** Numbers where they are exact; bigints only where needed, because they are slow. */
function integers(values: BigInt64Array): Reader {
  const words = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  return (index) => {
    const number = words[2 * index + 1]! * WORD + (words[2 * index]! >>> 0);
    return Number.isSafeInteger(number) ? number : values[index]!;
  };
}

/** Strings with all digits: 1250 at scale 2 is "12.50". */
function decimals(values: BigUint64Array, scale: number): Reader {
  return (index) => {
    const low = values[2 * index]!;
    const high = values[2 * index + 1]!;
    const units = BigInt.asIntN(128, (high << 64n) | low);
    return decimalText(units, scale);
  };
}

function decimalText(units: bigint, scale: number): string {
  const sign = units < 0n ? '-' : '';
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0');
  if (scale <= 0) return sign + digits;
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
