import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';

const source = path.join(import.meta.dirname, '../../src');
const exported = /^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm;

test('no two files of src export the same name, but the library, whose calls are named as their pipelines', () => {
  const files = readdirSync(source, {recursive: true, encoding: 'utf8'}).filter((file) =>
    /(?<!^library)[.]ts$/.test(file),
  );
  const places = new Map<string, string[]>();
  for (const file of files) {
    for (const [, name = ''] of readFileSync(path.join(source, file), 'utf8').matchAll(exported)) {
      places.set(name, [...(places.get(name) ?? []), file]);
    }
  }
  expect(places.size).toBeGreaterThan(1000);
  expect([...places].filter(([, where]) => new Set(where).size > 1)).toEqual([]);
});
