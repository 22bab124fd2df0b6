/** Ends `text` with a full stop unless it has one, for messages that end in someone else's words. */
export function asSentence(text: string): string {
  const trimmed = text.trimEnd();
  return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

/** Removes the full stop, for a message that becomes part of a longer sentence. */
export function asClause(message: string): string {
  return message.replace(/\.$/, '');
}
