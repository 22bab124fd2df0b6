import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {expect, test} from 'vitest';
import {locatePlugin} from '../../../src/cli/setup/plugin-source.js';
import {makeFolder} from '../../folder.js';

test.each(['acme/mycli-plugin-gate', './acme/mycli-plugin-gate', 'file:acme/mycli-plugin-gate'])(
  'a plugin to install is local if it is here: %s',
  async (name) => {
    const folder = await makeFolder({'acme/mycli-plugin-gate/package.json': '{}'});
    const from = join(folder, 'acme/mycli-plugin-gate');
    for (const given of [name, from, pathToFileURL(from).href])
      expect(locatePlugin(given, folder)).toEqual({spec: `file://${from}`, from});
  },
);

test.each(['a b', 'a%20b', '100%', 'h#sh', 'wh?t', 'a (b) [c] ü'])(
  'a plugin to install is found below %j, by path or URL, and npm gets the path',
  async (part) => {
    const folder = await makeFolder({[`${part}/p.tgz`]: ''});
    const from = join(folder, part, 'p.tgz');
    for (const given of [`${part}/p.tgz`, from, `file://${from}`, pathToFileURL(from).href])
      expect(locatePlugin(given, folder)).toEqual({spec: `file://${from}`, from});
  },
);

test.each(['mycli-plugin-gate', 'mycli-plugin-gate@1.0.0', '@acme/mycli-plugin-gate', '@acme/mycli-plugin-gate@beta'])(
  'a plugin to install comes from the registry: %s',
  (spec) => {
    expect(locatePlugin(spec, '/nonexistent')).toEqual({spec});
  },
);

test.each([
  ['acme/mycli-plugin-gate', 'https://github.com/acme/mycli-plugin-gate'],
  ['git+ssh://git.example/a.git', 'git+ssh://git.example/a.git'],
])('a plugin to install comes from elsewhere: %s', (spec, from) => {
  expect(locatePlugin(spec, '/nonexistent')).toEqual({spec, from});
});

test.each(['./gate', '../gate', '/nonexistent/gate', 'file:gate', 'file:///nonexistent/gate'])(
  'a plugin to install must be at the path that is named: %s',
  (name) => {
    expect(() => locatePlugin(name, '/nonexistent')).toThrow('gate does not exist.');
  },
);
