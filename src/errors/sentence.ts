/** `text` with a full stop, unless it has an end already: for a message that ends in words of somebody else. */
export function asSentence(text: string): string {
  const trimmed = text.trimEnd();
  return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

/** A message as part of a longer sentence: without its full stop. */
export function asClause(message: string): string {
  return message.replace(/\.$/, '');
}
