import {chmod, rename, rm, symlink, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {
  PushPlace,
  PushRecord,
  PushRecords,
  PushResult,
  PushRuntimeBundleBackendOptions,
} from '../../../src/operations/push/options.js';
import {startService, type Service} from '../pushed-bundles.js';
import {deleteBundles} from '../../../src/pipelines/delete.js';
import {pushRuntimeBundle} from '../calls.js';

type Options = Partial<PushRuntimeBundleBackendOptions>;

interface Pusher extends Service {
  readonly records: Map<string, PushRecord>;
  pushIfChanged(options: Options): Promise<PushResult>;
  /** What was sent since the last call, without what authorization needs. */
  sent(): readonly unknown[];
}

function recordsIn(records: Map<string, PushRecord>): PushRecords {
  const key = (place: PushPlace) => JSON.stringify(place);
  return {
    read: (place) => Promise.resolve(records.get(key(place))),
    write: (place, record) => Promise.resolve(void records.set(key(place), record)),
  };
}

async function startPusher(defaults: Options): Promise<Pusher> {
  const service = await startService();
  const {project, connection, runtime} = service;
  const records = new Map<string, PushRecord>();
  let seen = 0;
  return {
    ...service,
    records,
    pushIfChanged: (options) =>
      pushRuntimeBundle(
        {
          ...{...connection, preference: 'auto', ifChanged: true, pushRecords: recordsIn(records), pollInterval: 0.01},
          ...{...defaults, ...options},
        },
        project.host,
      ),
    sent() {
      const routes = runtime.requests.map(({route}) => route).filter((route) => route !== 'token');
      const since = routes.slice(seen);
      seen = routes.length;
      return since;
    },
  };
}

describe.each([
  {name: 'legacy v1', defaults: {preference: 'legacy'}},
  {name: 'legacy v2', defaults: {preference: 'legacy', v2: true}},
  {name: 'api', defaults: {preference: 'api'}},
] as const)('a push to $name, if changed', ({defaults}) => {
  test('uploads a bundle once, whatever the message; the second result is that of the first bundle', async () => {
    const {pushIfChanged, sent} = await startPusher(defaults);
    const first = await pushIfChanged({message: 'first'});
    expect(first).toMatchObject({unchanged: false, pushedAt: undefined, message: 'first'});
    expect(sent()).toEqual(['upload']);
    const second = await pushIfChanged({
      message: 'second',
      compressionLevel: defaults.preference === 'api' ? 9 : undefined,
    });
    expect(second).toMatchObject({
      bundleId: first.bundleId,
      unchanged: true,
      pushedAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      message: 'first',
      deployed: false,
      matches: {},
      raw: {bundle: undefined},
      // Nothing was compressed again, or the other level would show.
      archive: first.archive,
      warnings: [],
    });
    expect(sent()).toEqual(['list']);
  });

  test('uploads what is different: content, SSR parameters, the project', async () => {
    const {pushIfChanged, project} = await startPusher(defaults);
    await pushIfChanged({});
    expect(await pushIfChanged({ssrParameters: {a: 1}})).toMatchObject({bundleId: 2, unchanged: false});
    await writeFile(join(project.directory, 'build/static/app.css'), 'h1 { color: plum; }\n');
    expect(await pushIfChanged({ssrParameters: {a: 1}})).toMatchObject({unchanged: false});
    expect(await pushIfChanged({ssrParameters: {a: 1}})).toMatchObject({unchanged: true});
    expect(await pushIfChanged({ssrParameters: {a: 1}, projectSlug: 'other'})).toMatchObject({unchanged: false});
  });
});

describe('a push if changed', () => {
  test('looks at names, content, modes and links, not at times', async () => {
    const {pushIfChanged, project} = await startPusher({preference: 'legacy'});
    const file = join(project.directory, 'build/static/app.css');
    const [link, to] = [`${file}.link`, (target: string) => symlink(target, `${file}.link`)];
    await to('app.css');
    await pushIfChanged({});
    await utimes(file, 1, 1);
    expect(await pushIfChanged({})).toMatchObject({unchanged: true});
    await chmod(file, 0o755);
    expect(await pushIfChanged({})).toMatchObject({unchanged: false});
    await rm(link).then(() => to('./app.css'));
    expect(await pushIfChanged({})).toMatchObject({unchanged: false});
    await rename(file, join(project.directory, 'build/static/axp.css'));
    expect(await pushIfChanged({})).toMatchObject({unchanged: false});
    expect(await pushIfChanged({})).toMatchObject({unchanged: true});
  });

  test('uploads again, with a warning, when the server cannot tell whether the bundle is still there', async () => {
    const {pushIfChanged, runtime} = await startPusher({preference: 'legacy'});
    await pushIfChanged({});
    runtime.addFault('403x1:route=list');
    const {unchanged, warnings} = await pushIfChanged({});
    expect(unchanged).toBe(false);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^Could not check whether bundle 1 of the last push still exists, so the bundle is uploaded: /,
      ),
    ]);
  });

  test('uploads again what was deleted at the server', async () => {
    const {pushIfChanged, connection, project} = await startPusher({preference: 'legacy'});
    await pushIfChanged({});
    await deleteBundles({...connection, preference: 'legacy', bundleIds: [1]}, project.host);
    const again = await pushIfChanged({});
    expect(again).toMatchObject({bundleId: 2, unchanged: false, warnings: []});
    expect(project.log).toContain('Bundle 1 of the last push is gone.');
  });

  test('takes the record of the backend that would serve: after a fallback that of legacy', async () => {
    const {pushIfChanged, runtime, sent} = await startPusher({});
    const resolved: string[] = [];
    const refuse = () => runtime.addFault('404x1:route=upload');
    refuse();
    expect(await pushIfChanged({})).toMatchObject({backend: 'legacy', unchanged: false});
    sent();
    refuse();
    const second = await pushIfChanged({onResolve: (backend) => resolved.push(backend)});
    expect(second).toMatchObject({backend: 'legacy', unchanged: true, archive: {format: 'v1'}});
    expect(second.warnings).toEqual([expect.stringContaining('Fell back to the Runtime (API key) backend')]);
    expect(resolved).toEqual(['api', 'legacy']);
    expect(sent()).toEqual(['upload', 'list']);
    expect(await pushIfChanged({})).toMatchObject({backend: 'api', unchanged: false});
  });

  test('records that cannot be read or written are warnings', async () => {
    const {pushIfChanged, project} = await startPusher({preference: 'legacy'});
    const broken = () => Promise.reject(new Error('the disk is full'));
    const options = {pushRecords: {read: broken, write: broken}};
    expect((await pushIfChanged(options)).warnings).toEqual([
      'The record of the last push cannot be read, so the bundle is uploaded: the disk is full.',
      'Bundle 1 could not be recorded for the next push: the disk is full.',
    ]);
    expect((await pushIfChanged({...options, ifChanged: false})).warnings).toEqual([]);
    expect(project.log).toContain('Bundle 2 could not be recorded for the next push: the disk is full.');
  });

  test('another bundle with the ID of the last one, of a server that was set up anew, is not the last one', async () => {
    const {pushIfChanged, project, records} = await startPusher({preference: 'legacy'});
    await pushIfChanged({});
    for (const [place, record] of records) {
      const before = new Date(Date.parse(record.pushedAt) - 3_600_000).toISOString();
      records.set(place, {...record, pushedAt: before});
    }
    expect(await pushIfChanged({})).toMatchObject({bundleId: 2, unchanged: false, warnings: []});
    expect(project.log).toContain('Bundle 1 of the last push has an ID that belongs to another bundle now.');
    expect(await pushIfChanged({})).toMatchObject({bundleId: 2, unchanged: true});
  });

  test('an abort while it compares is the reason that it rejects with: nothing is uploaded', async () => {
    const {pushIfChanged, records, sent} = await startPusher({preference: 'legacy'});
    await pushIfChanged({});
    sent();
    const controller = new AbortController();
    const stored = recordsIn(records);
    const read = (place: PushPlace) => {
      controller.abort(new Error('enough'));
      return stored.read(place);
    };
    const push = pushIfChanged({signal: controller.signal, pushRecords: {...stored, read}});
    await expect(push).rejects.toThrow('enough');
    expect(sent()).toEqual([]);
  });
});
