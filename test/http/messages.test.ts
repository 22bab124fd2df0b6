import {describe, expect, test} from 'vitest';
import {createRedactor, isInsecureOrigin, normalizeOrigin} from '../../src/http/index.js';
import {responseError, serverMessage} from '../../src/http/errors/response-error.js';
import {shownAddress} from '../../src/http/origin.js';
import {createMasker, isSecretName, passwordsIn} from '../../src/http/redact.js';

test.each(['a.', 'a://', 'http://', 'a://b:', 'http://a,', 'authorization ', '@://', 'a://@', 'http://?#'])(
  'megabytes of %j are masked in one pass',
  (piece) => {
    expect(createRedactor([])(piece.repeat(400_000)).length).toBeGreaterThan(0);
  },
);

test('a secret of any length is masked, and is in no error', () => {
  const long = `(${'[canary\\'.repeat(100_000)}`;
  expect(createRedactor([long, 'short-one'])(`${long}short-one`)).toBe('***');
});

test.each([
  ['PATCH', []],
  ['POST', ['In .bundleignore, exclude what the bundle does not need.']],
])('a %s that is too large gets advice about the bundle only if it is an upload', (method, advice) => {
  const request = {options: {method, url: 'https://runtime.example/x'}};
  expect(responseError({statusCode: 413, headers: {}, request}, (text) => text).suggestions).toEqual(advice);
});

describe('createRedactor', () => {
  const secret = 'p/+"ä\\s&w0\'rd';
  const redact = createRedactor([secret]);

  test.each([
    secret,
    JSON.stringify(secret),
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('base64url'),
    Buffer.from(secret).toString('hex'),
    Buffer.from(secret).toString('hex').toUpperCase(),
    Buffer.from(`u:${secret}`).toString('base64'),
    Buffer.from(`us:${secret}!`).toString('base64'),
    Buffer.from(`use:${secret}`).toString('base64url'),
  ])('masks %s', (form) => {
    const core = form.replace(/["=]/g, '').slice(6, -3);
    expect(redact(`before ${form} after`)).not.toContain(core);
    expect(redact(`before ${form} after`)).toMatch(/^before .* after$/);
  });

  test.each<[string, (secret: string) => string]>([
    ['lower case in a URL', (text) => encodeURIComponent(text).toLowerCase().replace('%c3%a4', '%C3%a4')],
    ['a URL in a URL', (text) => encodeURIComponent(encodeURIComponent(text))],
    ['a form', (text) => new URLSearchParams({text}).toString().slice(5)],
    [
      'JSON with escaped slashes',
      (text) =>
        JSON.stringify(text)
          .slice(1, -1)
          .replaceAll('/', String.raw`\/`),
    ],
    ['JSON in JSON', (text) => JSON.stringify(JSON.stringify(text)).slice(3, -3)],
    ['JSON in JSON in JSON', (text) => JSON.stringify(JSON.stringify(JSON.stringify(text)))],
    [
      'JSON in ASCII',
      (text) =>
        JSON.stringify(text)
          .replace('ä', String.raw`\u00e4`)
          .replace('&', String.raw`\u0026`),
    ],
    ['HTML', (text) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')],
    ['HTML with numbers', (text) => text.replaceAll('&', '&#38;').replaceAll('"', '&#x22;').replace('ä', '&#228;')],
    ['HTML in HTML', (text) => text.replaceAll('&', '&amp;amp;').replaceAll('"', '&amp;quot;')],
    ['a shell', (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`.slice(1, -1)],
    ['JSON in a URL', (text) => encodeURIComponent(text.replaceAll('\\', '\\\\'))],
  ])('masks a secret in %s whole', (_what, encode) => {
    const masked = redact(`before ${encode(secret)} after`);
    expect(masked).toMatch(/^before [\\"]*\*{3}[\\"]* after$/);
  });

  test('masks each line of a secret of several lines, however they are joined', () => {
    const lines = ['MIIEvQIBADANBgkqhkiG9w0BAQEFAASC', 'BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj', 'MzEfYyjiWA4='];
    const key = ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----'].join('\n');
    const mask = createRedactor([key]);
    for (const joint of ['\n', '\r\n', ' ', '', ', ', String.raw`\n`, String.raw`\\n`, '\n   ', '%0A']) {
      const masked = mask(`key: ${key.replaceAll('\n', joint)} end`);
      for (const line of lines) expect(masked).not.toContain(line.slice(4, -4));
      expect(masked).toMatch(/^key: .* end$/s);
    }
    expect(mask(`error in ${String(lines[1])}`)).toBe('error in ***');
    expect(mask('-----BEGIN PRIVATE KEY-----')).toBe('-----BEGIN PRIVATE KEY-----');
  });

  test('masks base64 in lines', () => {
    const long = `canary-${'0123456789abcdef'.repeat(12)}`;
    const base64 = Buffer.from(`user:${long}`).toString('base64');
    for (const end of ['\n', '\r\n', String.raw`\r\n`, '\n    ']) {
      const broken = base64.replaceAll(/.{76}/g, `$&${end}`);
      expect(createRedactor([long])(`before ${broken} after`)).toMatch(/^before .{0,8}\*{3}.{0,4} after$/);
    }
  });

  test('masks secrets beside each other, within each other and at both ends, and keeps the rest', () => {
    const mask = createRedactor(['abcd', 'cdef', 'wxyz']);
    expect(mask('abcdefabcd wx%79z\n\\"a&amp;b c\\\\d%')).toBe('*** ***\n\\"a&amp;b c\\\\d%');
    expect(mask('abcd')).toBe('***');
  });

  test.each([
    ['Authorization: Bearer abc.def-123', 'Authorization: Bearer ***'],
    ['{"authorization":"Basic dXNlcjpwYXNz"}', '{"authorization":"Basic ***"}'],
    ['authorization: rawkey', 'authorization: ***'],
    ['got Bearer eyJhbGciOiJIUzI1NiJ9.x.y', 'got Bearer ***'],
    ['https://s3.test/b/k?X-Amz-Signature=abc&x=1 is gone', 'https://s3.test/b/k?*** is gone'],
    ['via http://user:pass@proxy.test:3128', 'via http://***@proxy.test:3128'],
    ['the bearer of good news', 'the bearer of good news'],
    ['https://canary@host.test/x', 'https://***@host.test/x'],
    ['sftp://me:canary@host.test:22/x', 'sftp://***@host.test:22/x'],
    // SSH needs the user, who is no secret.
    ['cannot reach sftp://me@host.test:22/x', 'cannot reach sftp://me@host.test:22/x'],
    ['git+ssh://git@host.test/x', 'git+ssh://git@host.test/x'],
    // Nor is a database's. With other schemes, it may be a token.
    ['mariadb://shop@host.test:3306/x', 'mariadb://shop@host.test:3306/x'],
    ['mariadb://shop:canary@host.test:3306/x', 'mariadb://***@host.test:3306/x'],
    ['nats://canary@host.test', 'nats://***@host.test'],
    ['postgres://host.test/x?password=canary', 'postgres://host.test/x?***'],
    ['must be acme://USER@HOST[:PORT]', 'must be acme://USER@HOST[:PORT]'],
    ['such as http://USER:PASSWORD@HOST', 'such as http://USER:PASSWORD@HOST'],
  ])('turns %j into %j', (text, expected) => {
    expect(createRedactor([])(text)).toBe(expected);
  });

  test.each(['b', 'f', 'n', 'r', 't', 'x', 'u0041'])(
    'masks a secret with a backslash before %s, however encoded',
    (letter) => {
      const own = `hunter\\${letter}ack-it`;
      const mask = createRedactor([own]);
      for (const form of [
        own,
        JSON.stringify(own).slice(1, -1),
        encodeURIComponent(own),
        new URLSearchParams({own}).toString().slice(4),
      ])
        expect(mask(`before ${form} after`)).toBe('before *** after');
    },
  );

  test.each([
    ["redis://ops:it's-pw@127.0.0.1:6379", "it's-pw"],
    ['amqp://ops:a b"c\\d@host/vhost', 'a b"c\\d'],
    ['redis://ops:hunter2%2Fpw%40x@host', 'hunter2/pw@x'],
    ['redis://ops:p@ss@word@host/0', 'p@ss@word'],
    ['redis://ops:hunter2/pw?x#y@host', 'hunter2/pw?x#y'],
    ['redis//ops:hunter2pw@127.0.0.1:6379', 'hunter2pw'],
    ['redis:/ops:hunter2pw@127.0.0.1', 'hunter2pw'],
    // URL parsers take these for URLs, too.
    ['https:ops:hunter2pw@127.0.0.1', 'hunter2pw'],
    [String.raw`https:\\ops:hunter2pw@127.0.0.1`, 'hunter2pw'],
    ['//ops:hunter2pw@127.0.0.1', 'hunter2pw'],
    ['host=a.example user=ops PASSWORD=hunter2pw', 'hunter2pw'],
    ['Server=a.example;Pwd = hunter2pw;Encrypt=true', 'hunter2pw'],
  ])('masks the password of %j by itself, too', (url, password) => {
    const mask = createRedactor([...passwordsIn(url)]);
    const shell = url.replaceAll("'", String.raw`'\''`);
    for (const text of [url, shell, JSON.stringify(url), `refused ${password}`, encodeURIComponent(password)])
      expect(mask(text)).not.toMatch(/pw|hunter2|ss|a b|c\\/);
    expect(createRedactor([url])(`refused ${password}!`)).toBe('refused ***!');
  });

  test.each([
    'https://host:8080/a@b',
    'me@host.test',
    'npm:foo@1',
    'npm:@acme/foo@1.2.3',
    'ssh://git@host.test/x',
    'https://host.test/?q=a:b',
  ])('finds no password in %j', (text) => {
    expect(passwordsIn(text)).toEqual([]);
  });

  test.each(['a1b2', 'ä+ö/', '\u{1F511}\u{1F511}', 'a b&c%', 'a1b2c'])(
    'masks what only is %j in base64 or hex',
    (short) => {
      const bytes = Buffer.from(short);
      const core = (before: string, from: number, to: number) =>
        Buffer.from(before + short)
          .toString('base64')
          .slice(from, to);
      const ends = [0, 1, 2].map((offset) => Math.floor(((offset + bytes.length) * 4) / 3));
      const texts = [
        bytes.toString('base64url'),
        bytes.toString('hex'),
        core('u', 2, ends[1] ?? 0),
        core('us', 3, ends[2] ?? 0),
      ];
      for (const text of texts) expect(createRedactor([short])(text), text).toBe('***');
    },
  );

  test('reads each secret once, and masks those that are added', () => {
    let reads = 0;
    const secrets = ['first-one'];
    Object.defineProperty(secrets, 0, {get: () => `first-${String((reads += 1))}`});
    const mask = createMasker(secrets);
    expect(mask('first-1 second-one')).toBe('*** second-one');
    secrets.push('second-one');
    expect(mask('first-1 second-one')).toBe('*** ***');
    expect(reads).toBe(1);
  });

  test('leaves very short secrets alone', () => {
    expect(createRedactor(['', 'a'])('a banana')).toBe('a banana');
  });

  test('masks a secret that contains another one whole', () => {
    expect(createRedactor(['abcdef', 'abcdef-long'])('x abcdef-long y')).toBe('x *** y');
  });
});

describe('serverMessage', () => {
  const same = (text: string) => text;

  test.each([
    ['{"detail":"a"}', 'a'],
    ['{"message":"b"}', 'b'],
    ['{"title":"Bad","type":"x","detail":"c"}', 'Bad: c'],
    ['{"title":"Only a title"}', 'Only a title'],
    ['{"detail":{"field":["wrong"]}}', '{"field":["wrong"]}'],
    ['{"field":["wrong"]}', '{"field":["wrong"]}'],
    ['"just a string"', 'just a string'],
    ['plain\r\n\ttext\u0007\u001b[31m red', 'plain text red'],
    ['', undefined],
    [' \n ', undefined],
    ['<html><body>no</body></html>', undefined],
    ['\n<!doctype html>', undefined],
  ])('of %j is %j', (body, expected) => {
    expect(serverMessage(body, same)).toBe(expected);
  });

  test('is cut to 300 characters, after the secrets are masked', () => {
    const secret = 'canary-1234567890';
    const message = serverMessage(`${'x'.repeat(290)}${secret}${'y'.repeat(100)}`, createRedactor([secret]));
    expect(message).toHaveLength(300);
    expect(message).not.toContain('canary');
  });
});

test.each([
  ['https://аpple.com/base/', 'https://xn--pple-43d.com/base'],
  ['https://ex\nample.com', 'https://example.com'],
  ['runtime.example', 'https://runtime.example'],
  ['https://me:canary@a.test/?x=canary', 'https://***@a.test/?***'],
])('an address is shown as it is asked: %j as %s', (address, shown) => {
  expect(shownAddress(address)).toBe(shown);
});

describe('normalizeOrigin', () => {
  test.each([
    ['runtime.example.com', 'https://runtime.example.com'],
    ['localhost:8080', 'http://localhost:8080'],
    ['[::1]:8080/base', 'http://[::1]:8080/base'],
    ['https://ex\nample.com', 'https://example.com'],
    [' https://A.example.com/base/ ', 'https://a.example.com/base'],
    ['http://127.0.0.1:80', 'http://127.0.0.1'],
  ])('%j is %s', (value, expected) => {
    expect(normalizeOrigin('origin', value)).toBe(expected);
  });

  test.each([
    '',
    'ftp://a.test',
    'https://me:canary@a.test',
    'https://canary@a.test',
    'https://a.test?x=canary',
    'https://a.test/#canary',
    'https://a b',
    'http://unix:/var/run/docker.sock:/v1',
    'https:/me:canary@a.test',
    'https:\\\\me:canary@a.test',
    'https//me:canary@a.test/?x=canary',
  ])('refuses %j, names the option and repeats no secret', (value) => {
    expect(() => normalizeOrigin('--origin', value)).toThrow(
      expect.objectContaining({
        code: 'ERR_OPTION_INVALID',
        message: expect.stringMatching(/^--origin (?!.*canary)/) as string,
      }),
    );
  });
});

test.each([
  ['http://runtime.example.com', true],
  ['https://runtime.example.com', false],
  ['http://localhost:3000', false],
  ['http://app.localhost', false],
  ['http://127.8.0.1', false],
  ['http://[::1]:80', false],
  ['http://localhost.example.com', true],
  ['http://127.0.0.1.example.com', true],
])('credentials to %s would be readable by others: %j', (origin, expected) => {
  expect(isInsecureOrigin(origin)).toBe(expected);
});

test.each([
  ['MYCLI_API_KEY', true],
  ['apiToken', true],
  ['client-secret', true],
  ['credentials', true],
  ['privatekey', true],
  ['tokenUrl', false],
  ['MYCLI_TOKEN_URL', false],
  ['authorization', false],
  ['token_type', false],
  ['monkey', false],
  ['message', false],
])('%s names a secret: %s', (name, isSecret) => {
  expect(isSecretName(name)).toBe(isSecret);
});
