import {join, basename} from 'node:path';
import {readJsonRecord} from '../../projects/read-project.js';

/** The name of the package, or of the folder, as a slug: `@scope/My Shop` becomes `my-shop`. */
export async function suggestedSlug(cwd: string): Promise<string> {
  const {name: given} = await readJsonRecord(join(cwd, 'package.json'));
  const name = typeof given === 'string' ? given : '';
  const slugOf = (text: string) => {
    const words = asciiOf(text.replace(/^@[^/]*\//, '')).toLowerCase();
    return words.replaceAll(/[^a-z\d]+/g, '-').replaceAll(/^-|-$/g, '');
  };
  return slugOf(name) || slugOf(basename(cwd));
}
/** Letters that are no letter with a mark. */
const ligatures: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
};
/** `Łódź` is `Lodz`, without the marks of its letters. */
function asciiOf(text: string): string {
  const letters = text.normalize('NFKD').replaceAll(/\p{M}/gu, '');
  return letters.replaceAll(/[ßæœøłđðþı]/gi, (letter) => ligatures[letter.toLowerCase()] ?? letter);
}
