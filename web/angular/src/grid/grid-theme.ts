import { themeQuartz } from 'ag-grid-community';

/** Pixels: dense, and still easy to click. */
export const ROW_HEIGHT = 28;

/** AG Grid's theme from the custom properties of live-table.css. */
export const GRID_THEME = themeQuartz.withParams({
  backgroundColor: 'var(--egt-surface)',
  foregroundColor: 'var(--egt-text)',
  textColor: 'var(--egt-text)',
  subtleTextColor: 'var(--egt-muted)',
  accentColor: 'var(--egt-accent)',
  borderColor: 'var(--egt-line)',
  borderRadius: 'var(--egt-radius)',
  browserColorScheme: 'inherit',
  cellHorizontalPadding: 10,
  columnBorder: false,
  dataFontSize: 13,
  focusShadow: 'none',
  fontFamily: 'inherit',
  fontSize: 13,
  headerBackgroundColor: 'var(--egt-raised)',
  headerColumnBorder: false,
  headerColumnResizeHandleColor: 'var(--egt-line)',
  headerColumnResizeHandleHeight: '50%',
  headerFontSize: 12,
  headerFontWeight: 600,
  headerHeight: 32,
  headerRowBorder: { color: 'var(--egt-line)' },
  headerTextColor: 'var(--egt-muted)',
  pinnedColumnBorder: { color: 'var(--egt-line)' },
  rowBorder: { color: 'var(--egt-faint)' },
  rowHeight: ROW_HEIGHT,
  rowHoverColor: 'var(--egt-hover)',
  spacing: 6,
  wrapperBorder: false,
  wrapperBorderRadius: 0,
});
