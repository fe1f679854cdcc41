/** Pieces of the sentences in which the readers say what they found. */

/** Found text in quotes: one line, and short enough for a message. */
export function quoted(text: string): string {
  const longest = 24;
  const line = text.slice(0, 200).trim().replace(/\s+/g, ' ');
  const letters = [...line];
  const cut = letters.length > longest || text.trimEnd().length > 200;
  return `“${cut ? `${letters.slice(0, longest).join('')}…` : line}”`;
}

/** 1st, 2nd, 3rd, 11th … */
export function ordinal(n: number): string {
  const teen = n % 100 >= 11 && n % 100 <= 13;
  return `${n}${(!teen && ['', 'st', 'nd', 'rd'][n % 10]) || 'th'}`;
}
