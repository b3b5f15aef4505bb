import { themeQuartz } from 'ag-grid-community';

/** Lines of 28 pixels: dense, and still easy to hit. */
export const ROW_HEIGHT = 28;

/** AG Grid in the colours of the page: everything is a custom property of live-table.css. */
export const THEME = themeQuartz.withParams({
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
