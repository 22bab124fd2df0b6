import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {planBundle} from '../../src/bundle/index.js';
import {decodeText} from '../../src/files/read-file.js';
import {makeFolder} from '../folder.js';
import {planOptions, smallBuild} from '../bundle/project.js';

const utf16 = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le');

test('decodeText: UTF-8 and UTF-16 lose their byte order mark, and everything else is refused', () => {
  for (const bytes of [Buffer.from('grüß'), Buffer.from('\uFEFFgrüß'), utf16('grüß'), utf16('grüß').swap16()])
    expect(decodeText(bytes)).toBe('grüß');
  expect(decodeText(Buffer.alloc(0))).toBe('');
  const wrong = [Buffer.from('grüß', 'latin1'), Buffer.from('a\0b'), Buffer.from('*.map', 'utf16le'), utf16('a\0')];
  for (const bytes of [...wrong, utf16('ab').subarray(0, 5)])
    expect(() => decodeText(bytes)).toThrow('Save it as UTF-8');
});

test('.bundleignore: rules in UTF-16 hold, and a file in another encoding is named', async () => {
  const cwd = await makeFolder({...smallBuild, 'build/static/app.js.map': '', '.bundleignore': utf16('*.map\r\n')});
  expect((await planBundle(planOptions(cwd))).files.map(({path}) => path)).not.toContain('static/app.js.map');
  const file = join(cwd, '.bundleignore');
  await writeFile(file, Buffer.from('*.map\nübrig\n', 'latin1'));
  await expect(planBundle(planOptions(cwd))).rejects.toMatchObject({
    code: 'ERR_CONFIG_INVALID',
    exitCode: 3,
    message: `${file} cannot be read: it is not text in UTF-8. Save it as UTF-8.`,
  });
});
