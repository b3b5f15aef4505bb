/** Words as a sentence: others' texts begin small where they follow a name in a log. */
export function sentence(words: string): string {
  const text = words.trim();
  if (!text) return '';
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}
