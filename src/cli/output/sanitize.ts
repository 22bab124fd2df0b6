import {stripVTControlCharacters} from 'node:util';

/**
 * Text from elsewhere, safe for a terminal: without escape sequences and control characters, other than tab and line
 * feed. Characters that change the direction of text go too: they make a line read differently from what it says.
 */
export function sanitize(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll('\r\n', '\n')
    .replaceAll(/(?![\t\n])[\p{Cc}\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu, '');
}
