import {describe, expect, test} from 'vitest';
import {getProjectStatus} from '../../../src/pipelines/read.js';
import {callFromLibrary} from '../../../src/pipelines/library-call.js';
import {targetChanges} from '../../../src/operations/targets/changes.js';
import {applyTarget} from '../../../src/pipelines/configure.js';
import * as targets from '../../../src/pipelines/targets.js';
import type {LocalRuntimeOptions} from '../../../src/testing.js';
import {startRecordingServer} from '../../recording-server.js';
import {hearing} from '../calls.js';
import {startService} from '../pushed-bundles.js';

const setVariables = targets.changeTarget(targetChanges.setVariables);

async function startTargets(options: LocalRuntimeOptions = {}) {
  const service = await startService(options);
  const legacy = {...service.connection, preference: 'legacy', pollInterval: 0.01} as const;
  const made = () => service.runtime.requests.filter(({route}) => route === 'create-target').length;
  return {...service, legacy, api: {...legacy, preference: 'api'} as const, made};
}

describe('a target that is created', () => {
  test('becomes ready, and is not created again', async () => {
    const {legacy, project, made} = await startTargets({deploymentSeconds: 0.1});
    const create = (more = {}) => targets.createTarget({...legacy, targetSlug: 'preview', ...more}, project.host);
    expect(await create()).toMatchObject({targetSlug: 'preview', state: 'ready', created: true, warnings: []});
    expect(await create({ifMissing: true})).toMatchObject({targetSlug: 'preview', created: false});
    await expect(create()).rejects.toMatchObject({code: 'ERR_REJECTED', details: {targetSlug: 'preview'}});
    expect(await create({targetSlug: 'other', dryRun: true})).toMatchObject({created: false});
    await expect(create({targetSlug: 'Not A Slug'})).rejects.toMatchObject({code: 'ERR_OPTION_INVALID'});
    expect(made()).toBe(1);
  });

  test('has the slug that the service makes, and is known by its name', async () => {
    const {api, project, made} = await startTargets();
    const options = {...api, targetSlug: 'preview-of-a-branch-with-a-long-name', ifMissing: true};
    const {targetSlug, name, created} = await targets.createTarget(options, project.host);
    expect({name, created}).toEqual({name: options.targetSlug, created: true});
    expect(targetSlug).toMatch(/^[a-z0-9-]{1,19}$/);
    expect(await targets.createTarget(options, project.host)).toMatchObject({targetSlug, created: false});
    expect(made()).toBe(1);
  });

  test('is one target although two ask for it at the same time', async () => {
    const {api, legacy, project} = await startTargets();
    for (const service of [api, legacy]) {
      const targetSlug = `twice-${service.preference}`;
      const create = () => targets.createTarget({...service, targetSlug, ifMissing: true}, project.host);
      const both = await Promise.all([create(), create()]);
      expect(new Set(both.map((one) => one.targetSlug)).size).toBe(1);
      const {targets: listed} = await targets.listTargets(service, project.host);
      expect(listed.filter(({name}) => name === targetSlug)).toHaveLength(1);
    }
  });

  test('copies variables, and runs what its source runs, and says so, before it is made, too', async () => {
    const {api, legacy, project, push} = await startTargets();
    const bundleId = await push({targetSlug: 'staging'});
    await setVariables({...legacy, targetSlug: 'staging', set: {COLOR: 'blue'}}, project.host);
    const configuration = {settings: {sourceMaps: true}, variables: ['COLOR', 'SECRET']};
    for (const service of [api, legacy]) {
      const copy = {...service, targetSlug: `copy-${service.preference}`, copyFrom: 'staging', configuration};
      const told = {
        copied: {from: 'staging', bundleId, variables: ['COLOR'], redirects: [], settings: {region: 'us-east-1'}},
        missing: ['SECRET'],
      };
      const planned = await targets.createTarget({...copy, dryRun: true}, project.host);
      const lacks = `${copy.targetSlug} would lack 1 variable: SECRET.`;
      expect(planned).toMatchObject({...told, created: false, warnings: [lacks]});
      const {targetSlug, ...made} = await targets.createTarget(copy, project.host);
      expect(made).toMatchObject({...told, created: true, warnings: [`${targetSlug} lacks 1 variable: SECRET.`]});
      const {variables} = await targets.listVariables({...service, targetSlug}, project.host);
      expect(variables.map(({name}) => name)).toEqual(['COLOR']);
      const deleted = await targets.deleteTarget({...service, targetSlug}, project.host);
      expect(deleted).toMatchObject({deleted: true, running: {bundleId}});
    }
  });

  test('of which there is no source is refused before it is made, with the one that was meant', async () => {
    const {api, legacy, project, push, made} = await startTargets();
    await push({targetSlug: 'staging'});
    for (const service of [api, legacy]) {
      const copy = {...service, targetSlug: 'copy', copyFrom: 'stagin', dryRun: service === api};
      await expect(targets.createTarget(copy, project.host)).rejects.toMatchObject({
        code: 'ERR_REJECTED',
        suggestions: ['Did you mean staging?', 'Its targets: staging'],
      });
    }
    expect(made()).toBe(0);
  });

  test('as a copy, or deleted, is not found in a project without targets: no push is suggested', async () => {
    const {api, legacy, project} = await startTargets();
    for (const service of [api, legacy]) {
      const copy = {...service, targetSlug: 'copy', copyFrom: 'staging'};
      const refused = {code: 'ERR_REJECTED', suggestions: ['Check the name of the project.']};
      await expect(targets.createTarget(copy, project.host)).rejects.toMatchObject(refused);
      const deleted = {...service, targetSlug: 'staging'};
      await expect(targets.deleteTarget(deleted, project.host)).rejects.toMatchObject(refused);
    }
  });

  test.each(['drop', '500', '504'])('is looked for when the answer is lost (%s)', async (fault) => {
    const {legacy, project, runtime, made} = await startTargets();
    runtime.addFault(`${fault}x1:route=create-target`);
    const work = targets.createTarget({...legacy, targetSlug: 'lost'}, project.host);
    if (fault === 'drop') {
      const warnings = ['Target lost exists, but the answer of the service was lost.'];
      expect(await work).toMatchObject({created: true, warnings});
    } else {
      const code = fault === '500' ? 'ERR_SERVER' : 'ERR_OUTCOME_UNKNOWN';
      const message = expect.stringContaining('Target lost may have been created, but is not listed');
      await expect(work).rejects.toMatchObject({code, message, details: {targetSlug: 'lost'}});
    }
    expect(made()).toBe(1);
  });

  test.each(['api', 'legacy'] as const)('as a copy is whole although the answer is lost (%s)', async (preference) => {
    const {[preference]: service, project, runtime, push, made} = await startTargets({deploymentSeconds: 0.1});
    await push({targetSlug: 'staging'});
    await setVariables({...service, targetSlug: 'staging', set: {COLOR: 'blue'}, wait: true}, project.host);
    const configuration = {
      ...{settings: {logLevel: 'debug' as const, proxies: [{path: 'api', host: 'a.example'}]}, access: true},
      redirects: [{from: '/old', to: '/new'}],
    };
    await applyTarget({...service, targetSlug: 'staging', configuration, wait: true}, project.host);
    runtime.addFault('dropx1:route=create-target');
    const copy = await targets.createTarget({...service, targetSlug: 'copy', copyFrom: 'staging'}, project.host);
    expect(copy).toMatchObject({created: true, missing: [], missingRedirects: [], copied: {variables: ['COLOR']}});
    expect(copy.warnings[0]).toBe(`Target ${copy.targetSlug} exists, but the answer of the service was lost.`);
    expect(made()).toBe(1);
  });

  test('that fails, or takes too long, is told', async () => {
    const {legacy, project, runtime} = await startTargets({deploymentSeconds: 60});
    const create = (targetSlug: string) => targets.createTarget({...legacy, targetSlug, timeout: 0.2}, project.host);
    await expect(create('slow')).rejects.toMatchObject({code: 'ERR_WAIT_TIMEOUT', details: {state: 'creating'}});
    const {targets: states} = await getProjectStatus(legacy, project.host);
    expect(states).toMatchObject([{targetSlug: 'slow', state: 'creating', live: undefined}]);
    const quick = await startTargets();
    quick.runtime.addFault('failx1:route=create-target');
    const failed = targets.createTarget({...quick.legacy, targetSlug: 'bad'}, quick.project.host);
    await expect(failed).rejects.toMatchObject({code: 'ERR_DEPLOYMENT_FAILED', details: {state: 'failed'}});
    runtime.addFault('401x1:route=targets');
  });
});

describe('a target that is deleted', () => {
  test.each([false, true])('is not waited for any longer (is gone: %j)', async (isGone) => {
    let ahead = 0;
    const {legacy, project} = await startTargets({
      deploymentSeconds: 60,
      now: () => new Date(Date.now() + ahead),
    });
    const target = {...legacy, targetSlug: 'preview'};
    const deleted: Promise<unknown>[] = [];
    const onEvent = hearing(() => {
      if (deleted.length > 0) return;
      deleted.push(targets.deleteTarget(target, project.host).finally(() => (ahead = isGone ? 61_000 : 0)));
    });
    const waiting = callFromLibrary({...target, onEvent}, project.host, targets.createTarget);
    await expect(waiting).rejects.toMatchObject({
      code: 'ERR_DEPLOYMENT_FAILED',
      message: expect.stringMatching(/^Target preview was deleted before it was ready\.$/) as string,
      details: {targetSlug: 'preview'},
    });
    await Promise.all(deleted);
  });

  test('is not production, unless that is forced', async () => {
    const {legacy, project} = await startTargets();
    await targets.createTarget({...legacy, targetSlug: 'eu-prod'}, project.host);
    const remove = (more = {}) => targets.deleteTarget({...legacy, targetSlug: 'eu-prod', ...more}, project.host);
    await expect(remove()).rejects.toMatchObject({code: 'ERR_GUARD_REFUSED'});
    const asked: string[] = [];
    const confirm = async (_: string, {targetSlug}: {readonly targetSlug: string}) => void asked.push(targetSlug);
    expect(await remove({force: true, confirm})).toMatchObject({deleted: true, running: undefined});
    expect(asked).toEqual(['eu-prod']);
    await expect(remove({force: true})).rejects.toMatchObject({code: 'ERR_REJECTED'});
    expect(await remove({force: true, ifExists: true})).toMatchObject({deleted: false});
  });

  test('is not the primary one: the error says how to make another one primary', async () => {
    const {api, project} = await startTargets();
    const {targetSlug} = await targets.createTarget({...api, targetSlug: 'main'}, project.host);
    await applyTarget({...api, targetSlug, configuration: {primary: true}}, project.host);
    for (const dryRun of [true, false])
      await expect(targets.deleteTarget({...api, targetSlug, dryRun}, project.host)).rejects.toMatchObject({
        code: 'ERR_REJECTED',
        status: dryRun ? undefined : 409,
        message: `${targetSlug} is the primary target of shop, which cannot be deleted.`,
        suggestions: [expect.stringContaining('targets.SLUG.primary'), expect.stringMatching(/target:apply SLUG /)],
      });
  });

  test.each([
    ['drop', undefined],
    ['500', 'ERR_SERVER'],
  ])('is looked at when the answer is lost (%s)', async (fault, code) => {
    const {legacy, project, runtime} = await startTargets();
    await targets.createTarget({...legacy, targetSlug: 'old'}, project.host);
    runtime.addFault(`${fault}x1:route=delete-target`);
    const work = targets.deleteTarget({...legacy, targetSlug: 'old'}, project.host);
    if (code === undefined) expect(await work).toMatchObject({deleted: true, warnings: [expect.anything()]});
    else
      await expect(work).rejects.toMatchObject({
        code,
        message: expect.stringMatching(/^Target old may still be deleted: /),
      });
  });
});

describe('the variables of a target', () => {
  test('are set and removed by name; nothing has a value', async () => {
    const {legacy, api, project, runtime, push} = await startTargets();
    await push({targetSlug: 'staging'});
    const value = 'canary-value "of"\na variable';
    const planned: unknown[] = [];
    const beforeWrite = async (write: unknown) => void planned.push(write);
    const change = {...legacy, targetSlug: 'staging', set: {SECRET: value, LEVEL: ''}, unset: ['GONE'], wait: true};
    const result = await setVariables(change, {...project.host, beforeWrite});
    expect(result).toMatchObject({set: ['SECRET', 'LEVEL'], unset: ['GONE'], dryRun: false});
    expect(planned).toMatchObject([{operation: 'set-variables', variables: ['SECRET', 'LEVEL', 'GONE']}]);
    const listed = await targets.listVariables({...api, targetSlug: 'staging'}, project.host);
    expect(listed.variables.map(({name}) => name)).toEqual(['LEVEL', 'SECRET']);
    expect(JSON.stringify([result, planned, listed])).not.toContain('canary');
    runtime.addFault('405x1:route=set-variables');
    const lacking = setVariables(change, project.host);
    await expect(lacking).rejects.toMatchObject({code: 'ERR_CAPABILITY_UNSUPPORTED'});
  });

  test.each([
    [{set: {'9LIVES': 'canary'}}, '"9LIVES" is not the name of a variable'],
    [{unset: ['A=canary']}, '"A=…" is not the name of a variable'],
    [{set: {A: 'canary\0'}}, 'The value of A must be a string without null characters.'],
    [{set: {A: 'canary'}, unset: ['A']}, 'The variable A is given twice.'],
    [{}, 'There is no variable to set or remove.'],
  ])('are checked before anything is sent: %j', async (change, message) => {
    const {legacy, project, runtime} = await startTargets();
    const work = setVariables({...legacy, targetSlug: 'staging', ...change}, project.host);
    await expect(work).rejects.toMatchObject({code: 'ERR_OPTION_INVALID', message: expect.stringContaining(message)});
    expect(runtime.requests).toEqual([]);
  });

  test('are masked in what a server repeats', async () => {
    const {legacy, project} = await startTargets();
    await using server = await startRecordingServer(() => ({status: 400, body: {detail: 'no: canary-value'}}));
    const change = {...legacy, origin: server.origin, targetSlug: 'staging', set: {A: 'canary-value'}};
    const error: unknown = await setVariables(change, project.host).catch((reason: unknown) => reason);
    expect(error).toMatchObject({code: 'ERR_REJECTED', message: expect.stringContaining('no: ***')});
  });

  test('are read from pages, and from one object', async () => {
    const {legacy, project} = await startTargets();
    const [a, b] = [
      {A: {value: '***', updated_by: 'ann', publishing_status_description: 'Published'}},
      {B: {value: '***', publishing_status_description: 7}},
    ];
    const page = (row: unknown) => ({count: 2, results: [row]});
    for (const bodies of [[page(a), page(b)], [{...a, ...b}]]) {
      await using server = await startRecordingServer(() => ({status: 200, body: bodies.shift()}));
      const list = {...legacy, origin: server.origin, targetSlug: 'staging'};
      const {variables} = await targets.listVariables(list, project.host);
      expect(variables.map(({name, status, updatedBy}) => [name, status, updatedBy])).toEqual([
        ['A', 'published', 'ann'],
        ['B', '7', undefined],
      ]);
    }
  });
});

test('an invalidation takes patterns that begin with a slash', async () => {
  const {legacy, api, project, push, runtime} = await startTargets();
  await push({targetSlug: 'staging'});
  const invalidate = (service: typeof legacy | typeof api, patterns?: readonly string[]) =>
    targets.changeTarget(targetChanges.invalidate)({...service, targetSlug: 'staging', patterns}, project.host);
  expect((await invalidate(legacy)).patterns).toEqual(['/*']);
  expect((await invalidate(api, ['/a', '/b*', '/a'])).patterns).toEqual(['/a', '/b*']);
  await expect(invalidate(api, ['images/*'])).rejects.toMatchObject({code: 'ERR_OPTION_INVALID'});
  expect(runtime.requests.filter(({route}) => route === 'invalidate')).toHaveLength(3);
});

test.each([
  ['read-only', 'staging', ['create', 'delete', 'set', 'invalidate']],
  ['no-delete', 'staging', ['delete']],
  ['no-production', 'production', ['create', 'delete', 'set', 'invalidate']],
])('MYCLI_SAFETY=%s blocks changes to %s: %j', async (MYCLI_SAFETY, targetSlug, blocked) => {
  const {legacy, project, runtime} = await startTargets();
  const host = {...project.host, env: {...project.host.env, MYCLI_SAFETY}};
  const calls = {
    create: () => targets.createTarget({...legacy, targetSlug}, host),
    delete: () => targets.deleteTarget({...legacy, targetSlug, force: true}, host),
    set: () => setVariables({...legacy, targetSlug, set: {A: 'b'}}, host),
    invalidate: () => targets.changeTarget(targetChanges.invalidate)({...legacy, targetSlug}, host),
  };
  for (const name of blocked) {
    await expect(Reflect.get(calls, name)()).rejects.toMatchObject({code: 'ERR_SAFETY'});
  }
  expect(runtime.requests).toEqual([]);
});

test('a client without the scope for environments is told which one it lacks, and can still look at one target', async () => {
  const {api, project, runtime} = await startTargets();
  runtime.addFault('403:route=targets');
  const error = await targets.listTargets(api, project.host).catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: 'ERR_FORBIDDEN',
    suggestions: expect.arrayContaining([expect.stringContaining('.environments.rw')]),
  });
});
