import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {readRedirects} from '../../../src/cli/setup/redirects-file.js';
import {makeFolder} from '../../folder.js';

async function read(name: string, text: string) {
  const path = join(await makeFolder(), name);
  await writeFile(path, text);
  return readRedirects(path);
}

test('redirects: JSON has a list of them', async () => {
  const redirects = [
    {from: '/a', to: '/b'},
    {from: '/c/*', to: 'https://d.example/*', status: 302, forwardWildcard: true},
  ];
  expect(await read('redirects.json', JSON.stringify(redirects))).toEqual(redirects);
  const wrong = read('redirects.json', '[{"from": "/a", "to": "/b"}, {"from": "a", "to": "/b", "code": 301}]');
  await expect(wrong).rejects.toThrow('entry 2: it has an unknown key: code');
  await expect(read('redirects.json', '{}')).rejects.toThrow('it is not a JSON array of redirects');
});

test('redirects: CSV has a header, in the words of the configuration or of a service', async () => {
  const text = 'from_path,to_url,http_status_code,forward_querystring\r\n/a,"/b,""c""",302,TRUE\r\n\r\n/d,/e,,\r\n';
  const redirects = [
    {from: '/a', to: '/b,"c"', status: 302, forwardQuery: true},
    {from: '/d', to: '/e'},
  ];
  expect(await read('redirects.csv', text)).toEqual(redirects);
  expect(await read('r.CSV', 'to,from\n/b,/a\n')).toEqual([{from: '/a', to: '/b'}]);
  await expect(read('r.csv', 'from,to\n/a\n/b,c\n')).rejects.toThrow(
    'line 2: it has 1 values, and the header 2; line 3: to must be a path',
  );
});

test('redirects: lines of other hosts are read, and what a target cannot have is told by line', async () => {
  const text = '# moved\n/a /b\n/c  /d 302 # for now\n/q /r?x=1\n/blog/* https://b.example/:splat 301\n';
  const standard = {forwardQuery: true, forwardWildcard: false};
  expect(await read('_redirects', text)).toEqual([
    {from: '/a', to: '/b', status: 301, ...standard},
    {from: '/c', to: '/d', status: 302, ...standard},
    {from: '/q', to: '/r?x=1', status: 301, ...standard},
    {from: '/blog/*', to: 'https://b.example/*', status: 301, forwardQuery: true, forwardWildcard: true},
  ]);
  const wrong = ['/a /b 200', '/* /index.html 404', '/p/:id /q/:id', '/s id=:id /t 301', '/c /d 302 Country=us', '/f'];
  const error: unknown = await read('_redirects', wrong.join('\n')).catch((reason: unknown) => reason);
  expect((error as {details: {problems: readonly string[]}}).details.problems).toEqual([
    'line 1: it has status 200; a target takes 301 or 302',
    'line 2: it has status 404; a target takes 301 or 302',
    'line 3: the only placeholder is * at the end, which is :splat',
    'line 4: conditions and parameters are not supported',
    'line 5: conditions and parameters are not supported',
    expect.stringMatching(/^line 6: to must be a path/),
  ]);
});
