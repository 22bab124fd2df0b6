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

test('redirects: the header of a CSV may be in any case; without it, line 1 is told', async () => {
  expect(await read('r.csv', 'From,TO_URL\n/a,/b\n')).toEqual([{from: '/a', to: '/b'}]);
  for (const [text, problem] of [
    ['/old,/new,302\n', 'line 1: it must be a header such as from,to,status, with commas, not /old.'],
    ['from;to;status\n/a;/b;301\n', 'with commas, not from;to;status.'],
    ['from,to,statuss\n/a,/b,301\n', 'with commas, not statuss (did you mean status?).'],
    ['from,status\n/a,301\n', 'line 1: it must be a header such as from,to,status, with commas.'],
    ['from,to,status\n/old,"/new,302\n', 'line 2: a quotation mark has no end.'],
  ] as const) {
    await expect(read('r.csv', text)).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      message: expect.stringContaining(problem) as string,
    });
  }
});

test('redirects: a file without any is an error, and [] in JSON is not', async () => {
  for (const [name, text] of [
    ['r.csv', ''],
    ['r.csv', 'from,to\n'],
    ['_redirects', ''],
    ['_redirects', '# none\n'],
  ] as const) {
    await expect(read(name, text)).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      message: expect.stringMatching(/has no redirects\.$/) as string,
    });
  }
  await expect(read('r.json', '')).rejects.toThrow(
    /^The redirects in .* cannot be read: Unexpected end of JSON input\.$/,
  );
  expect(await read('r.json', '[]')).toEqual([]);
});

test.each([
  ['r.csv', 'from,to\n/a,/b\n/c,/d\n/a,/e\n', 'line 4: /a is redirected by line 2, too'],
  ['r.json', '[{"from":"/a","to":"/a?x=1"}]', 'entry 1: it redirects to itself'],
  ['r.json', '[{"from":"/a/*","to":"/b/*"}]', 'entry 1: it has a * in "to", which needs forwardWildcard: true'],
  ['_redirects', '/a /a\n', 'line 1: it redirects to itself'],
  ['_redirects', '/a/* /b/*\n', 'line 1: write :splat, not *, in the destination'],
  ['r.json', '[{"from":"/a","to":"http://["}]', 'entry 1: to must be a path'],
])('redirects: %s with %j cannot work: %s', async (name, text, problem) => {
  await expect(read(name, text)).rejects.toThrow(problem);
});

test('redirects: lines of other hosts are read, and what a target cannot have is told by line', async () => {
  const text = '# moved\n/a /b\n/c  /d 302   # for now\n/q /r?x=1\n/blog/* https://b.example/:splat 301\n';
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
