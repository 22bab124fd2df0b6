import {withoutEscapeSequences} from './escape-sequences.js';

/** Ends `text` with a full stop unless it has one, for messages that end in someone else's words. */
export function asSentence(text: string): string {
  const trimmed = text.trimEnd();
  return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

/** Removes the full stop, for a message that becomes part of a longer sentence. */
export function asClause(message: string): string {
  return message.replace(/\.$/, '');
}

/** Someone else's text in one line, without escape sequences, control characters and bidirectional marks. */
export function oneLine(text: string): string {
  return withoutEscapeSequences(text)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
}

/** `1 file`, `2 files` */
export function count(number: number, noun: string): string {
  return `${String(number)} ${noun}${number === 1 ? '' : 's'}`;
}
