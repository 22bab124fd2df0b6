import type {TargetConfiguration} from '../../../src/operations/targets/options.js';
import {once} from 'node:events';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {Readable} from 'node:stream';
import {json} from 'node:stream/consumers';
import {describe, expect, onTestFinished, test} from 'vitest';
import {compareTarget, unsupportedWarnings} from '../../../src/operations/targets/compare-target.js';
import {Relay} from '../../../src/conformance/relay.js';
import type {EventBody} from '../../../src/pipelines/host.js';
import {applyTarget, diffTarget, listProjects} from '../../../src/pipelines/configure.js';
import {callFromLibrary} from '../../../src/pipelines/library-call.js';
import {createTarget, listTargets} from '../../../src/pipelines/targets.js';
import type {LocalRuntimeOptions} from '../../../src/testing.js';
import {promoteBundle} from '../calls.js';
import {startService} from '../pushed-bundles.js';

/** A runtime behind a relay, with a bundle, and how to reach both protocols through the relay. */
async function startTargets(options: LocalRuntimeOptions = {}) {
  const service = await startService(options);
  const relay = new Relay();
  onTestFinished(() => relay.close());
  const origin = await relay.through(service.runtime.origin);
  const {connection, project, runtime} = service;
  const apiConnection = {...connection.apiConnection, origin} as typeof connection.apiConnection;
  const wait = {pollInterval: 0.01, timeout: 20};
  const reached = {...connection, ...wait, origin, apiConnection};
  const legacy = {...reached, preference: 'legacy'} as const;
  const api = {...reached, preference: 'api'} as const;
  const warnings: string[] = [];
  const logger = {...project.host.logger, warn: (message: string) => void warnings.push(message)};
  const host = {...project.host, logger};
  /** The changes of a target that were carried out: `POST redirect`. */
  const writes = (slug: string) =>
    runtime.requests
      .filter(({method, path, status}) => method !== 'GET' && status < 300 && path.includes(`/${slug}`))
      .filter(({route}) => route !== 'deploy' && route !== 'upload')
      .map(({method, route}) => `${method} ${String(route)}`)
      .toSorted();
  return {...service, relay, legacy, api, host, warnings, writes};
}

const wanted: TargetConfiguration = {
  settings: {sourceMaps: true, allowedIps: ['10.0.0.0/8', '192.168.0.0/16'], proxies: [{path: 'a', host: 'a.example'}]},
  redirects: [
    {from: '/changed', to: '/new', status: 302},
    {from: '/added/*', to: 'https://other.example/*', forwardWildcard: true},
  ],
  prune: true,
  access: true,
  primary: true,
};
const before: TargetConfiguration = {
  redirects: [
    {from: '/changed', to: '/old'},
    {from: '/extra', to: '/old'},
  ],
};

test('compare: what a backend does not report is unknown, whatever other services have by default', () => {
  const unread = {unsupported: [], primary: undefined, redirects: [], access: [], variables: []};
  const wanted = {logLevel: 'info', cookies: false, sourceMaps: true, externalHost: null} as const;
  expect(compareTarget({...unread, settings: {sourceMaps: true}}, {settings: wanted})).toEqual([
    {kind: 'setting', name: 'logLevel', before: undefined, after: 'info'},
    {kind: 'setting', name: 'cookies', before: undefined, after: false},
  ]);
});

test.each([
  [['logLevel'], 'logLevel, which is ignored.'],
  [['logLevel', 'cookies'], 'logLevel, cookies, which are ignored.'],
])('compare: settings that a backend does not have are ignored: %j', (unsupported, end) => {
  const wanted = {settings: {logLevel: 'info', cookies: false}} as const;
  const [warning] = unsupportedWarnings({project: {backend: 'acme', projectSlug: 'shop'}}, {unsupported}, wanted);
  expect(warning).toBe(`The acme backend does not have ${end}`);
});

describe('a target that is applied', () => {
  test('becomes what the configuration says, and a second time nothing is changed', async () => {
    const {legacy, api, host, push, writes} = await startTargets();
    for (const service of [legacy, api]) {
      const options = {...service, targetSlug: `as-${service.preference}`};
      await push(options);
      await applyTarget({...options, configuration: before}, host);
      const diff = await diffTarget({...options, configuration: wanted}, host);
      const names = diff.differences.map(({kind, name}) => `${kind} ${name}`);
      const primary = service === api ? ['primary primary'] : [];
      expect(names).toEqual([
        ...['setting sourceMaps', 'setting allowedIps', 'setting proxies'],
        ...['redirect /changed', 'redirect /added/*', 'redirect /extra', 'access access', ...primary],
      ]);
      expect(diff.warnings).toHaveLength(service === api ? 0 : 1);
      const applied = await applyTarget({...options, configuration: wanted, wait: true}, host);
      expect(applied).toMatchObject({applied: names.length, access: expect.stringMatching(/^mycli-access-[\w-]{32}$/)});
      const made = writes(options.targetSlug);
      expect(await applyTarget({...options, configuration: wanted}, host)).toMatchObject({identical: true, applied: 0});
      expect(writes(options.targetSlug)).toEqual(made);
      expect(made.filter((one) => one === 'PATCH update-target')).toHaveLength(1);
    }
  });

  test.each(['legacy', 'api'] as const)(
    'is changed once, whichever request fails, and whichever answer is lost (%s)',
    {timeout: 120_000},
    async (backend) => {
      const {[backend]: service, relay, host, push, writes} = await startTargets();
      const prepare = async (targetSlug: string) => {
        relay.arm();
        await push({targetSlug});
        await applyTarget({...service, targetSlug, configuration: before}, host);
        return {...service, targetSlug, configuration: wanted};
      };
      const clean = await prepare('clean');
      relay.arm();
      await applyTarget(clean, host);
      const {requests} = relay;
      const expected = writes('clean');
      expect(requests).toBeGreaterThan(7);
      for (const kind of ['lose', 'cut', 500] as const) {
        for (let at = 1; at <= requests; at += 1) {
          const targetSlug = `${String(kind)}-${String(at)}`;
          const options = await prepare(targetSlug);
          const values: string[] = [];
          const onAccess = (value: string) => void values.push(value);
          relay.arm({kind, at});
          const first = await callFromLibrary({...options, onAccess}, host, applyTarget).then(
            () => 'done',
            (error: unknown) => (error as {code: string}).code,
          );
          // Whatever was lost was carried out, and is found.
          if (kind === 'lose') expect({targetSlug, first}).toEqual({targetSlug, first: 'done'});
          else expect(['done', 'ERR_OUTCOME_UNKNOWN', 'ERR_SERVER', 'ERR_NETWORK']).toContain(first);
          relay.arm();
          await applyTarget({...options, onAccess}, host);
          expect({targetSlug, writes: writes(targetSlug), values: values.length}).toEqual({
            targetSlug,
            writes: expected,
            values: 1,
          });
        }
      }
    },
  );

  test('gets 5,000 redirects, four at a time, and waits where the service asks for it', async () => {
    const {legacy, host} = await startTargets();
    const stored = new Map<string, object>();
    let [now, most, asked] = [0, 0, 0];
    const server = createServer((request, response) => {
      most = Math.max(most, (now += 1));
      response.once('close', () => (now -= 1));
      void json(request.method === 'POST' ? request : Readable.from(['{}'])).then((body) => {
        const answer = (status: number, value: unknown, headers = {}) =>
          response.writeHead(status, {'content-type': 'application/json', ...headers}).end(JSON.stringify(value));
        if (request.method !== 'POST') {
          const query = new URL(request.url ?? '', 'http://service').searchParams;
          const [limit, offset] = [Number(query.get('limit')), Number(query.get('offset'))];
          answer(200, {count: stored.size, results: [...stored.values()].slice(offset, offset + limit)});
        } else if ((asked += 1) % 100 === 0) {
          answer(429, {detail: 'too many requests'}, {'retry-after': '0'});
        } else {
          const row = body as {from_path: string};
          answer(stored.has(row.from_path) ? 409 : 201, row);
          stored.set(row.from_path, row);
        }
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => {
      server.close().closeAllConnections();
    });
    const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    const redirects = Array.from({length: 5000}, (_, at) => ({from: `/old/${String(at)}`, to: `/new/${String(at)}`}));
    const options = {...legacy, origin, targetSlug: 'staging', configuration: {redirects}};
    expect(await applyTarget(options, host)).toMatchObject({applied: 5000});
    expect(stored.size).toBe(5000);
    expect(most).toBeLessThanOrEqual(4);
    expect(await diffTarget(options, host)).toMatchObject({identical: true});
  });

  test('keeps redirects that the configuration does not name, unless it prunes', async () => {
    const {legacy, host, push} = await startTargets();
    const options = {...legacy, targetSlug: 'staging'};
    await push(options);
    await applyTarget({...options, configuration: before}, host);
    const {prune: _, ...kept} = {redirects: [{from: '/changed', to: '/old'}], prune: true};
    expect(await diffTarget({...options, configuration: kept}, host)).toMatchObject({identical: true});
    const pruned = await applyTarget({...options, configuration: {...kept, prune: true}}, host);
    expect(pruned.differences).toEqual([expect.objectContaining({kind: 'redirect', name: '/extra'})]);
  });

  test('has a new access header, and the one before once more if the new one does not work', async () => {
    const {legacy, host, push, runtime} = await startTargets();
    const options = {...legacy, targetSlug: 'staging', configuration: {access: true}};
    await push(options);
    const {access: first = ''} = await applyTarget(options, host);
    const {access: second = '', ...rotated} = await applyTarget({...options, rotate: true}, host);
    expect(rotated).toMatchObject({
      ...{applied: 1, identical: false},
      differences: [{kind: 'access', before: true, after: true}],
    });
    const url = runtime.siteUrl('shop', 'staging').replace('staging--shop.localhost', '127.0.0.1');
    const look = async (value: string) => {
      const headers = {'x-sfdc-access-control': value};
      return (await fetch(`${new URL(url).origin}/shop/staging/static/index.html`, {headers})).status;
    };
    expect([await look(first), await look(second), await look('')]).toEqual([401, 200, 401]);
    const opened = await applyTarget({...options, configuration: {access: false}}, host);
    expect([opened.applied, await look('')]).toEqual([1, 200]);
    const both = applyTarget({...options, configuration: {access: false}, rotate: true}, host);
    await expect(both).rejects.toMatchObject({code: 'ERR_OPTION_INVALID'});
  });

  test('is not changed by a dry run, without consent, and against its guards', async () => {
    const {legacy, host, push, writes} = await startTargets();
    const options = {...legacy, targetSlug: 'staging', configuration: wanted};
    await push(options);
    expect(await applyTarget({...options, dryRun: true}, host)).toMatchObject({applied: 0, dryRun: true});
    const unsure = {...options, confirm: () => Promise.reject(new Error('no'))};
    await expect(applyTarget(unsure, host)).rejects.toThrow('no');
    const guarded = applyTarget({...options, guard: {ciOnly: true}}, {...host, env: {}});
    await expect(guarded).rejects.toMatchObject({code: 'ERR_GUARD_REFUSED'});
    const safe = applyTarget(options, {...host, env: {MYCLI_SAFETY: 'read-only'}});
    await expect(safe).rejects.toMatchObject({code: 'ERR_SAFETY'});
    expect(writes('staging')).toEqual([]);
    const twice = {redirects: [before.redirects?.[0] ?? {from: '', to: ''}, {from: '/changed', to: '/x'}]};
    await expect(applyTarget({...options, configuration: twice}, host)).rejects.toThrow('one redirect of /changed');
    const nowhere = applyTarget({...options, targetSlug: 'nowhere'}, host);
    await expect(nowhere).rejects.toMatchObject({code: 'ERR_REJECTED'});
  });
});

describe('a target that is created', () => {
  test('is as configured once it is ready, and a copy gets what its service leaves out', async () => {
    const {legacy, api, host, push, warnings} = await startTargets();
    await push({...legacy, targetSlug: 'source'});
    const own = {production: true, externalHost: 'www.example.com', externalDomain: 'example.com'};
    const settings = {proxies: [{path: 'a', host: 'a.example'}], cookies: true, ...own};
    await applyTarget({...legacy, targetSlug: 'source', configuration: {settings}}, host);
    for (const service of [legacy, api]) {
      const configuration: TargetConfiguration = {settings: {sourceMaps: true}, access: true};
      const options = {...service, targetSlug: `copy-${service.preference}`, copyFrom: 'source', configuration};
      const made = await createTarget(options, host);
      expect(made).toMatchObject({created: true, access: expect.stringMatching(/^mycli-access-[\w-]{32}$/)});
      const reset = {production: false, externalHost: null, externalDomain: null};
      const all = {...configuration, settings: {proxies: settings.proxies, cookies: true, sourceMaps: true, ...reset}};
      const diff = await diffTarget({...service, targetSlug: made.targetSlug, configuration: all}, host);
      expect(diff.differences).toEqual([]);
      const names = 'externalHost, externalDomain, production';
      expect(made.warnings).toEqual([`Not copied from source, because they belong to one target: ${names}.`]);
    }
    expect(warnings).toEqual([]);
  });

  test('is ready once it runs with its settings, so that a promotion to it is not refused', async () => {
    const {legacy, api, host, push} = await startTargets({deploymentSeconds: 0.3});
    await push({...legacy, targetSlug: 'source'});
    const settings = {proxies: [{path: 'a', host: 'a.example'}]};
    await applyTarget({...legacy, targetSlug: 'source', configuration: {settings}, wait: true}, host);
    const events: EventBody[] = [];
    for (const service of [legacy, api]) {
      const copy = {...service, targetSlug: `copy-${service.preference}`, copyFrom: 'source'};
      const {targetSlug, state} = await createTarget(copy, {...host, onEvent: (event) => void events.push(event)});
      expect(state).toBe('ready');
      const outcomes = events.splice(0).flatMap((event) => (event.type === 'step' && event.summary) || []);
      const ends = ['is ready', 'is a copy of source', 'has its settings'];
      expect(outcomes.slice(-3)).toEqual(ends.map((end) => expect.stringMatching(`${targetSlug} ${end}$`)));
      const promoted = promoteBundle({...service, from: 'source', targetSlug, wait: true}, host);
      expect(await promoted).toMatchObject({status: 'finished'});
    }
  });

  test('that copies a target with an access header is public, which is said before and after', async () => {
    const {legacy, api, host, push} = await startTargets();
    await push({...legacy, targetSlug: 'source'});
    await applyTarget({...legacy, targetSlug: 'source', configuration: {access: true}}, host);
    for (const service of [legacy, api]) {
      const options = {...service, targetSlug: `copy-${service.preference}`, copyFrom: 'source'};
      for (const dryRun of [true, false]) {
        const {targetSlug, warnings} = await createTarget({...options, dryRun}, host);
        expect(warnings).toEqual([
          `Not copied from source: its access header, so anyone can visit ${targetSlug}. To require one, ` +
            `set targets.${targetSlug}.access to true, and apply it with target:apply.`,
        ]);
      }
    }
  });

  test('makes the same target of the same configuration in an empty project', async () => {
    const {legacy, api, host} = await startTargets();
    const {primary: _, ...configuration} = wanted;
    for (const service of [legacy, api]) {
      const other = {...service, projectSlug: `other-${service.preference}`, configuration};
      const {targetSlug} = await createTarget({...other, targetSlug: 'staging'}, host);
      expect(await diffTarget({...other, targetSlug}, host)).toMatchObject({identical: true});
      const {projects} = await listProjects(service, host);
      expect(projects.map(({projectSlug}) => projectSlug)).toContain(other.projectSlug);
      expect((await listTargets(other, host)).targets).toHaveLength(1);
    }
  });
});
