import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {
  catalogue,
  createError,
  exitCodes,
  isRuntimeCliError,
  RuntimeCliError,
  type ErrorCode,
} from '../../src/errors/index.js';

const codes = Object.keys(catalogue) as ErrorCode[];

describe('the catalogue of errors', () => {
  test.each(codes)('%s makes an error with its code and the exit code of its kind', (code) => {
    const error = createError(code, 'it happened', {suggestions: ['do this']});
    expect(error).toBeInstanceOf(RuntimeCliError);
    expect(error.code).toBe(code);
    expect(error.exitCode).toBe(exitCodes[catalogue[code].kind]);
    expect(error.suggestions).toEqual(['do this']);
  });

  test('every code and every exit code is in the documentation', async () => {
    const page = await readFile(new URL('../../docs/reference/errors.md', import.meta.url), 'utf8');
    for (const code of codes) expect(page).toContain(`\`${code}\``);
    for (const exitCode of [0, 1, ...Object.values(exitCodes), 129, 143])
      expect(page).toContain(`| ${String(exitCode)} |`);
  });

  test('every code is thrown somewhere', async () => {
    const folder = new URL('../../src/', import.meta.url);
    const files = (await readdir(folder, {recursive: true})).filter((file) => file.endsWith('.ts'));
    const others = files.filter((file) => file !== join('errors', 'catalogue.ts'));
    const sources = (await Promise.all(others.map((file) => readFile(new URL(file, folder), 'utf8')))).join('\n');
    expect(codes.filter((code) => !new RegExp(`'${code}'`).test(sources))).toEqual([]);
  });

  test('an error of another copy of the library is recognised by its shape', () => {
    const foreign = Object.assign(new Error('x'), {[Symbol.for('mycli.RuntimeCliError')]: true});
    expect(isRuntimeCliError(foreign)).toBe(true);
    expect(isRuntimeCliError(new Error('x'))).toBe(false);
    expect(isRuntimeCliError({[Symbol.for('mycli.RuntimeCliError')]: true})).toBe(false);
  });

  test('a cause is kept and the class names itself', () => {
    const cause = new Error('below');
    const error = createError('ERR_NETWORK', 'lost', {cause});
    expect(error.cause).toBe(cause);
    expect(error.name).toBe('NetworkError');
  });
});
