import {readdir} from 'node:fs/promises';
import path from 'node:path';
import {describe, expect, test} from 'vitest';
import {build, config, gnuTar, hostileArchive, rawTar, v2Archive, type HostileEntry} from './archives.js';
import {sendRaw, v1Body, v2Form} from './client.js';
import {startRuntime} from './with-runtime.js';

/** A form written by hand: each part its headers and its content. */
function handMade(...parts: readonly (readonly [disposition: string, content: string | Uint8Array])[]): {
  readonly method: 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
} {
  const pieces = parts.flatMap(([disposition, content]) => [
    Buffer.from(`--xyz\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
  const body = new Uint8Array(Buffer.concat([...pieces, Buffer.from('--xyz--\r\n')]));
  return {method: 'POST', headers: {'content-type': 'multipart/form-data; boundary=xyz'}, body};
}

const bundlePart = 'name="bundle"; filename="bundle.tar.gz"';
const v2Path = 'v2/projects/shop/bundles/';

describe('a v2 form', () => {
  test('is read with its parts in any order, with defaults for missing ones', async () => {
    const {client} = await startRuntime();
    const archive = await v2Archive();
    const reversed = handMade(
      ['name="matchMode"', 'strict'],
      ['name="message"', 'späte Nachricht'],
      [bundlePart, archive],
    );
    expect((await client.legacy(v2Path, reversed)).status).toBe(201);
    expect((await client.legacy(v2Path, handMade([bundlePart, archive]))).status).toBe(201);
    const {json} = await client.legacy('projects/shop/bundles/');
    expect(json.results.map(({message}: {message: string}) => message)).toEqual(['', 'späte Nachricht']);
  });

  test('is measured in characters, like in the client', async () => {
    const {client} = await startRuntime();
    const message = '😀'.repeat(2048);
    const reply = await client.legacy(v2Path, handMade([bundlePart, await v2Archive()], ['name="message"', message]));
    expect(reply.status).toBe(201);
  });

  test.each<[string, ...(readonly [string, string])[]]>([
    ['no part "bundle"', ['name="message"', 'm']],
    ['the part "bundle" twice', [bundlePart, 'ARCHIVE'], [bundlePart, 'ARCHIVE']],
    ['no part "bundle"', ['name="bundle"', 'ARCHIVE']],
    ['no filename', ['name="bundle"\r\nContent-Type: application/octet-stream', 'ARCHIVE']],
    ['an unknown file "other"', [bundlePart, 'ARCHIVE'], ['name="other"; filename="a"', 'x']],
    ['"message" twice', [bundlePart, 'ARCHIVE'], ['name="message"', 'a'], ['name="message"', 'b']],
    ['surprise', [bundlePart, 'ARCHIVE'], ['name="surprise"', 'a']],
    ['"message"', [bundlePart, 'ARCHIVE'], ['name="message"', 'm'.repeat(2049)]],
    ['too long', [bundlePart, 'ARCHIVE'], ['name="message"', 'm'.repeat(100_000)]],
    ['too many fields', ...Array.from({length: 17}, (_, index) => [`name="f${String(index)}"`, 'a'] as const)],
    ['"rootDir"', [bundlePart, 'ARCHIVE'], ['name="rootDir"', 'r'.repeat(257)]],
    ['"rootDir"', [bundlePart, 'ARCHIVE'], ['name="rootDir"', '../bld']],
    ['"configPath"', [bundlePart, 'ARCHIVE'], ['name="configPath"', 'a/../../b']],
    ['"matchMode"', [bundlePart, 'ARCHIVE'], ['name="matchMode"', 'loose']],
  ])('is refused for %s', async (reason, ...parts) => {
    const {client, runtime} = await startRuntime();
    const archive = await v2Archive();
    const filled = parts.map(([name, content]) => [name, content === 'ARCHIVE' ? archive : content] as const);
    const reply = await client.legacy(v2Path, handMade(...filled));
    expect([reply.status, reply.json.detail]).toEqual([400, expect.stringContaining(reason)]);
    expect(await readdir(path.join(runtime.dataDirectory, 'temporary'))).toEqual([]);
  });

  test('is refused if it is truncated, has no boundary or is not a form', async () => {
    const {client} = await startRuntime();
    const whole = handMade([bundlePart, await v2Archive()]);
    const cut = {...whole, body: whole.body.subarray(0, -30)};
    expect(await client.legacy(v2Path, cut)).toMatchObject({
      status: 400,
      json: {detail: expect.stringContaining('Unexpected end of form')},
    });
    const headers = {'content-type': 'multipart/form-data'};
    expect((await client.legacy(v2Path, {...whole, headers})).status).toBe(400);
    expect((await client.legacy(v2Path, client.json({}))).status).toBe(415);
  });

  test('is refused early when it is too large', async () => {
    const {client} = await startRuntime({maxUploadBytes: 1000});
    const reply = await client.legacy(v2Path, handMade([bundlePart, Buffer.alloc(3_000_000)]));
    expect(reply.status).toBe(413);
    expect(reply.json.detail).toContain('1000 bytes');
  });
});

describe('the configuration of a v2 bundle', () => {
  test.each<[string, unknown]>([
    ['not JSON', undefined],
    ['ssrOnly', {...config, ssrOnly: 'ssr.js'}],
    ['ssrShared.0', {...config, ssrShared: [1]}],
    ['ssrParameters', {...config, ssrParameters: []}],
    ['bundleMetadata.more', {...config, bundleMetadata: {more: 1}}],
    ['bundleMetadata.ccOverrides.0', {...config, bundleMetadata: {ccOverrides: [1]}}],
  ])('is refused: %s', async (reason, settings) => {
    const {client} = await startRuntime();
    const archive = await gnuTar(
      {...build, '.runtime/config.json': settings === undefined ? '{' : JSON.stringify(settings)},
      {prefix: 'bld', gzip: true},
    );
    const reply = await client.pushV2(archive);
    expect([reply.status, reply.json.detail]).toEqual([422, expect.stringContaining(reason)]);
  });

  test('may have metadata and unknown top-level keys', async () => {
    const {client} = await startRuntime();
    const bundleMetadata = {dependencies: {a: '1'}, ccOverrides: ['x']};
    expect((await client.pushV2(await v2Archive(build, {settings: {...config, bundleMetadata, more: 1}}))).status).toBe(
      201,
    );
  });

  test('must exist exactly once, at the path given in the form', async () => {
    const {client} = await startRuntime();
    const none = await client.pushV2(await gnuTar(build, {prefix: 'bld', gzip: true}));
    expect([none.status, none.json.detail]).toEqual([422, expect.stringContaining('no configuration file')]);
    const twice = await client.pushV2(await hostileArchive({name: 'bld/.runtime/config.json', content: '{}'}));
    expect([twice.status, twice.json.detail]).toEqual([422, expect.stringContaining('twice')]);
    const moved = await gnuTar({...build, 'a/b.json': JSON.stringify(config)}, {prefix: 'top/in', gzip: true});
    expect((await client.pushV2(moved, {rootDir: 'top/in', configPath: 'a/b.json'})).status).toBe(201);
  });

  test('strict: a pattern that matches nothing is named', async () => {
    const {client} = await startRuntime();
    const settings = {...config, ssrOnly: ['ssr.js', 'gone.js'], ssrShared: ['nope/**']};
    const archive = await v2Archive(build, {settings});
    const legacy = await client.pushV2(archive);
    expect(legacy.status).toBe(422);
    expect(legacy.json.detail).toContain('ssrOnly pattern "gone.js"');
    expect(legacy.json.detail).toContain('ssrShared pattern "nope/**"');
    const api = await client.api('shop/bundles', {method: 'POST', body: v2Form(archive)});
    expect([api.status, api.json.detail]).toEqual([422, expect.stringContaining('"nope/**"')]);
  });

  test('ignore_missing: a pattern that matches nothing is a warning', async () => {
    const {client} = await startRuntime();
    const settings = {...config, ssrShared: ['static/*.js', 'nope/**']};
    const {status, json} = await client.pushV2(await v2Archive(build, {settings}), {matchMode: 'ignore_missing'});
    expect(status).toBe(201);
    expect(json.warnings).toEqual([expect.stringContaining('"nope/**"')]);
    expect(json.matches.ssrShared).toEqual(['static/app.js']);
  });

  test('is matched only against files below the root, and never against itself', async () => {
    const {client} = await startRuntime();
    const settings = {...config, ssrShared: ['**/*']};
    const files = {'bld/ssr.js': 'x', 'bld/config.json': JSON.stringify(settings), 'other/x.js': 'x'};
    const archive = await gnuTar(files, {prefix: '.', gzip: true});
    const {json} = await client.pushV2(archive, {configPath: 'config.json'});
    expect(json.matches).toEqual({ssrOnly: ['ssr.js'], ssrShared: ['ssr.js']});
  });
});

describe('an archive', () => {
  test.each<[string, ...HostileEntry[]]>([
    ['unsafe entry name', {name: '../evil', content: 'x'}],
    ['unsafe entry name', {name: '/etc/evil', content: 'x'}],
    ['does not resolve inside', {name: 'bld/l', type: 'symlink', linkname: '../outside'}],
    ['hard link', {name: 'bld/l', type: 'link', linkname: 'bld/ssr.js'}],
    ['not a file, a folder or a link', {name: 'bld/l', type: 'character-device'}],
    ['twice', {name: 'bld/ssr.js', content: 'y'}],
    ['inside "bld/l"', {name: 'bld/l', type: 'symlink', linkname: '.'}, {name: 'bld/l/x', content: 'y'}],
  ])('is refused: %s', async (reason, ...entries) => {
    const {client} = await startRuntime();
    const reply = await client.pushV2(await hostileArchive(...entries));
    expect([reply.status, reply.json.detail]).toEqual([422, expect.stringContaining(reason)]);
  });

  test('may contain symbolic links that stay inside', async () => {
    const {client} = await startRuntime();
    const archive = await hostileArchive(
      {name: 'bld/a/', type: 'directory'},
      {name: 'bld/a/l', type: 'symlink', linkname: '../ssr.js'},
      {name: 'bld/m', type: 'symlink', linkname: 'a/l'},
    );
    expect((await client.pushV2(archive)).status).toBe(201);
  });

  test.each([
    ['text', Buffer.from('this is no archive'.repeat(100))],
    ['a broken gzip', Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.alloc(2000, 7)])],
    ['nothing', Buffer.alloc(0)],
    ['a part of it, compressed', v2Archive().then((archive) => archive.subarray(0, -20))],
    ['a part of it', v2Archive(build, {gzip: false}).then((archive) => archive.subarray(0, 1300))],
  ])('is refused: %s', async (_, archive) => {
    const {client} = await startRuntime();
    expect((await client.pushV2(await archive)).status).toBe(422);
  });
});

describe('a v1 body', () => {
  const tar = (prefix = 'shop/bld') => gnuTar(build, {prefix, gzip: false});

  test.each<[number, string, Readonly<Record<string, unknown>>]>([
    [400, 'encoding', {encoding: 'hex'}],
    [400, 'message', {message: 'm'.repeat(2049)}],
    [400, 'ssr_only', {ssr_only: 'ssr.js'}],
    [400, 'ssr_parameters', {ssr_parameters: undefined}],
    [400, 'bundle_metadata', {bundle_metadata: []}],
    [400, 'not base64', {data: 'abc$'}],
    [400, 'no "data"', {data: undefined}],
    [422, 'gone.js', {ssr_only: ['ssr.js', 'gone.js']}],
    [422, 'static/*', {ssr_shared: ['static/*']}],
  ])('is refused with %i: %s', async (status, reason, more) => {
    const {client, runtime} = await startRuntime();
    const reply = await client.pushV1(v1Body(await tar(), more));
    expect([reply.status, reply.json.detail]).toEqual([status, expect.stringContaining(reason)]);
    expect(await readdir(path.join(runtime.dataDirectory, 'temporary'))).toEqual([]);
  });

  test('is refused when its archive is compressed, lies elsewhere or is unsafe', async () => {
    const {client} = await startRuntime();
    const zipped = await client.pushV1(v1Body(await gnuTar(build, {prefix: 'shop/bld', gzip: true})));
    expect([zipped.status, zipped.json.detail]).toEqual([422, expect.stringContaining('uncompressed')]);
    const elsewhere = await client.pushV1(v1Body(await tar('other/bld')));
    expect([elsewhere.status, elsewhere.json.detail]).toEqual([422, expect.stringContaining('"shop/bld/"')]);
    const stranger = await gnuTar({'bld/ssr.js': 'x', 'other.js': 'x'}, {prefix: 'shop', gzip: false});
    const mixed = await client.pushV1(v1Body(stranger, {ssr_shared: []}));
    expect([mixed.status, mixed.json.detail]).toEqual([422, expect.stringContaining('"shop/other.js"')]);
    const unsafe = await client.pushV1(v1Body(await rawTar({name: 'shop/bld/../../x', content: 'x'})));
    expect([unsafe.status, unsafe.json.detail]).toEqual([422, expect.stringContaining('unsafe entry name')]);
  });

  test('is refused when it is not JSON, and with another content type', async () => {
    const {client} = await startRuntime();
    const body = v1Body(await tar());
    expect((await client.pushV1(body.slice(0, -1))).status).toBe(400);
    expect((await client.pushV1(`[${body}]`)).status).toBe(400);
    const headers = {'content-type': 'text/plain'};
    expect((await client.legacy('projects/shop/builds/', {method: 'POST', body, headers})).status).toBe(415);
  });

  test('may come without a content type', async () => {
    const {client, runtime} = await startRuntime();
    const reply = await sendRaw(`${runtime.origin}/api/projects/shop/builds/`, {
      method: 'POST',
      headers: {...client.legacyHeaders, 'transfer-encoding': 'chunked'},
      write: (request) => {
        expect(request.getHeader('content-type')).toBeUndefined();
        void tar().then((archive) => request.end(v1Body(archive)));
      },
    });
    expect(reply.status).toBe(200);
  });

  test('is refused if it is nested too deeply to be stored', async () => {
    const {client} = await startRuntime();
    const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    const body = v1Body(await tar()).replace('"ssr_parameters":{}', `"ssr_parameters":${deep}`);
    expect((await client.pushV1(body)).status).toBe(400);
    const settings = JSON.stringify(config).replace('"ssrParameters":{', `"ssrParameters":{"b":${deep},`);
    const archive = await gnuTar({...build, '.runtime/config.json': settings}, {prefix: 'bld', gzip: true});
    expect((await client.pushV2(archive)).status).toBe(422);
  });

  test('is refused if it is too large, with or without a Content-Length', async () => {
    const {client, runtime} = await startRuntime({maxUploadBytes: 1000});
    const body = v1Body(await tar());
    expect((await client.pushV1(body)).status).toBe(413);
    const chunked = await sendRaw(`${runtime.origin}/api/projects/shop/builds/`, {
      method: 'POST',
      headers: {...client.legacyHeaders, 'content-type': 'application/json', 'transfer-encoding': 'chunked'},
      write: (request) => request.end(body),
    });
    expect(chunked.status).toBe(413);
  });
});
