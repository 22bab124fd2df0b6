import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {filesIn} from '../../src/projects/read-project.js';
import {findServerScripts, scriptsOf} from '../../src/projects/server-scripts.js';

// Packages of which sites copy files as they are published.
const installed = join(process.env['MYCLI_TEST_CLIENTS'] ?? '', 'browser-packages');
const manifest = await readFile(join(import.meta.dirname, 'browser-packages/package.json'), 'utf8');
const {dependencies} = JSON.parse(manifest) as {readonly dependencies: Readonly<Record<string, string>>};

/** Where a package has its files for browsers, if not in `dist`: `.` is all of it. */
const folders: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['ace-builds', 'crypto-js', 'dayjs', 'highlight.js', 'lodash', 'moment'].map((name) => [name, '.']),
  ),
  ...Object.fromEntries(
    ['monaco-editor', 'pdfjs-dist', 'rxjs', 'swagger-ui-dist', 'three', 'tinymce'].map((name) => [name, '.']),
  ),
  preact: '.',
  vue: '.',
  react: 'umd',
  'react-dom': 'umd',
};

test.each(Object.keys(dependencies))(
  'findServerScripts: of %s, no file for browsers is code of a server',
  async (name) => {
    const folder = join(installed, 'node_modules', name, folders[name] ?? 'dist');
    const paths = await filesIn(folder);
    expect(paths.some((path) => /\.[cm]?js$/.test(path))).toBe(true);
    expect((await findServerScripts(scriptsOf(folder, paths))).server).toEqual([]);
  },
);
