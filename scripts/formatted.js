import {readFileSync} from 'node:fs';
import {format} from 'oxfmt';

/** The text of a file as `npm run format` writes it. */
export async function formatted(file, text) {
  const options = JSON.parse(readFileSync(new URL('../.oxfmtrc.json', import.meta.url), 'utf8'));
  const {code, errors} = await format(file, text, options);
  if (errors.length > 0)
    throw new Error(`${file} cannot be formatted: ${errors.map(({message}) => message).join(' ')}`);
  return code;
}
