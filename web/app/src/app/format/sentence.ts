/** Capitalises and ends a text; the gateway's texts are in lower case for its log. */
export function sentence(source: string): string {
  const text = source.trim();
  if (!text) return '';
  const capitalised = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(capitalised) ? capitalised : `${capitalised}.`;
}
