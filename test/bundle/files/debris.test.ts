import {join} from 'node:path';
import {execFileSync} from 'node:child_process';
import {expect, test} from 'vitest';
import {planBundle} from '../../../src/bundle/index.js';
import {debrisWarnings} from '../../../src/bundle/files/scan.js';
import {makeFolder} from '../../folder.js';

const appleDouble = Buffer.from('0005160700020000', 'hex');

test('what systems and editors leave in folders is left out, and told', async () => {
  const debris = {
    '.DS_Store': '',
    'static/.DS_Store': '',
    'static/Thumbs.db': '',
    'static/Desktop.ini': '',
    'static/._app.js': appleDouble,
    '__MACOSX/static/app.js': '',
    'static/.app.js.swp': '',
    'static/app.js~': '',
    'static/.#app.js': '',
    'static/#app.js#': '',
  };
  const kept = {'ssr.js': '', 'static/app.js': '', 'static/._notes.js': '// begins with a comment'};
  const tree = Object.entries({...debris, ...kept}).map(([path, content]) => [`build/${path}`, content] as const);
  const cwd = await makeFolder(Object.fromEntries(tree));
  // A pipe is not read.
  execFileSync('mkfifo', [join(cwd, 'build/static/._pipe')]);
  const options = {format: 'v2', cwd, env: {}, now: () => new Date(0)} as const;
  const {files, warnings} = await planBundle({...options, ignore: ['._pipe', '.#app.js']});
  expect(files.map(({path}) => path)).toEqual(Object.keys(kept).sort());
  const told = warnings.find((warning) => warning.startsWith('Left out leftovers of systems and editors:'));
  expect(told).toContain('.DS_Store, __MACOSX');
  expect(told).not.toContain('.#app.js');
});

test('an archive with such files is told', () => {
  expect(debrisWarnings(['a/app.js', 'a/._other.js'])).toEqual([]);
  expect(debrisWarnings(['a/app.js', 'a/._app.js', 'b/.DS_Store', '__MACOSX/a.js']).join()).toContain(
    'a/._app.js, b/.DS_Store, __MACOSX/a.js',
  );
});
