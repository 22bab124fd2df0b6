import {describe, expect, onTestFinished, test} from 'vitest';
import type {
  AccessItem,
  BackendContext,
  BundleId,
  CreateTargetRequest,
  ListRange,
  TargetItem,
  TargetRequest,
  TargetSettings,
  TargetState,
  UpdateTargetRequest,
} from '../../../src/backends/contract.js';
import {checkBackendShape} from '../../../src/backends/plugins/checked-backend.js';
import {deletePreview, deployedPreview, deployPreview, planPreview} from '../../../src/pipelines/previews.js';
import {pushRuntimeBundle} from '../../../src/pipelines/push.js';
import * as targets from '../../../src/pipelines/targets.js';
import {targetChanges} from '../../../src/operations/targets/changes.js';
import type {TargetConfirmation} from '../../../src/operations/options.js';
import {acme} from '../acme.js';
import {createProject} from '../test-host.js';

/** A service in memory whose targets have no names, and a plugin's backend for it that notes its calls. */
async function startNameless(members: object = {}) {
  const project = await createProject();
  onTestFinished(() => project[Symbol.asyncDispose]());
  const slugs = new Set(['qa', 'qa-old']);
  const calls: string[] = [];
  const options = acme({
    listTargets: async () => ({items: [...slugs].map((targetSlug): TargetItem => ({targetSlug}))}),
    createTarget: async ({targetSlug}: CreateTargetRequest) => {
      calls.push(`create ${targetSlug}`);
      slugs.add(targetSlug);
      return {targetSlug};
    },
    deleteTarget: async ({targetSlug}: TargetRequest) => {
      calls.push(`delete ${targetSlug}`);
      slugs.delete(targetSlug);
    },
    upload: async () => {
      calls.push('upload');
      return {bundleId: 'b1'};
    },
    deploy: async ({bundleId}: {readonly bundleId: BundleId}) => ({deployment: {bundleId}, status: 'finished'}),
    getDeployment: async () => ({status: 'finished'}),
    ...members,
  });
  return {options, project, slugs, calls, host: project.host};
}

test('variables that a plugin refuses as too large have its own advice', async () => {
  const advice = 'The variables of a target have 1 MB together: unset some.';
  const {options, host} = await startNameless({
    setVariables: async (_: object, {error}: BackendContext) => {
      throw error('ERR_REJECTED', 'The variables would be too large.', {status: 413, suggestions: [advice]});
    },
  });
  const change = targets.changeTarget(targetChanges.setVariables)({...options, targetSlug: 'qa', set: {A: 'b'}}, host);
  await expect(change).rejects.toMatchObject({status: 413, suggestions: [advice]});
});

describe("a slug that a plugin's backend cannot take", () => {
  test.each(['qa#old', 'qa?x', 'qa&x', 'qa%2Fold', 'q a', 'qa\\old'])(
    '%s is refused before anything is sent',
    async (targetSlug) => {
      const {options, calls, host} = await startNameless();
      const refused = {code: 'ERR_OPTION_INVALID', message: expect.stringContaining(targetSlug) as string};
      const own = {...options, targetSlug};
      await expect(targets.createTarget(own, host)).rejects.toMatchObject(refused);
      await expect(targets.deleteTarget(own, host)).rejects.toMatchObject(refused);
      await expect(pushRuntimeBundle(own, host)).rejects.toMatchObject(refused);
      await expect(pushRuntimeBundle({...options, projectSlug: targetSlug}, host)).rejects.toMatchObject(refused);
      expect(calls).toEqual([]);
    },
  );

  test('is one that its pattern does not match as a whole', async () => {
    const {options, calls, host} = await startNameless({slugs: {target: '[a-z#-]{1,6}'}});
    await targets.createTarget({...options, targetSlug: 'qa#b'}, host);
    for (const targetSlug of ['QA', 'qa-older'])
      await expect(targets.createTarget({...options, targetSlug}, host)).rejects.toMatchObject({
        code: 'ERR_OPTION_INVALID',
        message: `The acme backend requires a target slug that matches [a-z#-]{1,6}, not "${targetSlug}".`,
      });
    expect(calls).toEqual(['create qa#b']);
  });

  test.each(['[a-z', 7, {target: '('}])('has no pattern that is %j', (slugs) => {
    const backend = {apiVersion: 1, name: 'acme', summary: 'Acme', formats: ['v2'], upload: () => undefined, slugs};
    expect(checkBackendShape(backend)).toMatchObject({ok: false, problem: expect.stringContaining('slugs') as string});
  });
});

test('a deletion that removes another target than the one that is named fails, and names it', async () => {
  const {options, slugs, host} = await startNameless({
    deleteTarget: async ({targetSlug}: TargetRequest) => void slugs.delete(targetSlug.replace(/-old$/, '')),
  });
  await expect(targets.deleteTarget({...options, targetSlug: 'qa-old'}, host)).rejects.toMatchObject({
    code: 'ERR_BACKEND_FAILED',
    message: 'Target qa-old is still listed after its deletion. Gone instead: qa.',
  });
});

describe('a target that is listed after its deletion', () => {
  /** Deletes nothing until the list was read so often. */
  async function removeLate(looks: number, state?: TargetState) {
    let left = Infinity;
    const {options, host} = await startNameless({
      listTargets: async () => ({items: [{targetSlug: 'qa'}, ...((left -= 1) > 0 ? [{targetSlug: 'aa', state}] : [])]}),
      deleteTarget: async () => void (left = looks),
    });
    return targets.deleteTarget({...options, ...{pollInterval: 0.01, timeout: 0.3}, targetSlug: 'aa'}, host);
  }

  test('for a moment is deleted', async () => {
    expect(await removeLate(3, 'ready')).toMatchObject({deleted: true, warnings: []});
  });

  test('as being deleted is not waited for', async () => {
    expect(await removeLate(Infinity, 'deleting')).toMatchObject({deleted: true, warnings: []});
  });

  test('without a state is reported as listed', async () => {
    expect(await removeLate(Infinity)).toMatchObject({
      deleted: true,
      warnings: ['Target aa is still listed after its deletion.'],
    });
  });

  test('as ready may not be deleted', async () => {
    await expect(removeLate(Infinity, 'ready')).rejects.toMatchObject({
      code: 'ERR_OUTCOME_UNKNOWN',
      message: 'Target aa is still listed after its deletion, as ready.',
      suggestions: [expect.stringContaining('mycli target:list')],
    });
  });
});

test('a backend that cannot copy targets is not asked to', async () => {
  const {options, calls, host} = await startNameless({copiesTargets: false});
  const copy = {...options, targetSlug: 'new', copyFrom: 'qa'};
  await expect(targets.createTarget(copy, host)).rejects.toMatchObject({code: 'ERR_CAPABILITY_UNSUPPORTED'});
  expect(calls).toEqual([]);
});

test.each([true, false])('a copy is public unless the backend copies the access header: %j', async (copiesAccess) => {
  const {options, host} = await startNameless({
    listAccess: async ({targetSlug}: TargetRequest) => ({
      items: targetSlug === 'qa' || copiesAccess ? [{accessId: 'a1'}] : [],
    }),
  });
  const copy = {...options, targetSlug: 'new', copyFrom: 'qa'};
  expect((await targets.createTarget({...copy, dryRun: true}, host)).warnings).toEqual([]);
  const {warnings} = await targets.createTarget(copy, host);
  expect(warnings.map((text) => text.split(',')[0])).toEqual(
    copiesAccess ? [] : ['Not copied from qa: its access header'],
  );
});

test('a copy says which variables its service left out', async () => {
  const listVariables = async ({targetSlug}: TargetRequest) => ({
    items: (targetSlug === 'qa' ? ['KEY', 'LEVEL'] : ['LEVEL']).map((name) => ({name})),
  });
  const {options, host} = await startNameless({listVariables});
  expect(await targets.createTarget({...options, targetSlug: 'new', copyFrom: 'qa'}, host)).toMatchObject({
    copied: {from: 'qa', variables: ['LEVEL']},
    missing: ['KEY'],
    warnings: ['new lacks 1 variable: KEY.'],
  });
});

test.each(['qa', 'new'])(
  'a copy of which the lists of %s cannot be read says so, and claims nothing of them',
  async (unread) => {
    const list = async ({targetSlug}: TargetRequest) => {
      if (targetSlug === unread) throw new Error('the service is away');
      return {items: [{name: 'KEY', from: '/a', to: '/'}]};
    };
    const {options, host} = await startNameless({listVariables: list, listRedirects: list});
    expect(await targets.createTarget({...options, targetSlug: 'new', copyFrom: 'qa'}, host)).toMatchObject({
      copied: {variables: [], redirects: []},
      ...{missing: [], missingRedirects: []},
      warnings: ['Could not check whether new has the variables and redirects of qa.'],
    });
  },
);

test('a copy says which redirects its service left out, unless the configuration prunes them', async () => {
  const paths = Array.from({length: 115}, (_, index) => `/r${String(index)}`);
  const {options, host} = await startNameless({
    listRedirects: async ({targetSlug, cursor = '0', limit}: TargetRequest & ListRange) => {
      const own = targetSlug === 'qa' ? paths : paths.slice(0, 100);
      const end = Number(cursor) + Math.min(limit, 50);
      const items = own.slice(Number(cursor), end).map((from) => ({from, to: '/'}));
      return {items, ...(end < own.length && {cursor: String(end)})};
    },
    changeRedirect: async () => undefined,
  });
  const copy = {...options, targetSlug: 'new', copyFrom: 'qa'};
  expect(await targets.createTarget({...copy, dryRun: true}, host)).toMatchObject({missingRedirects: [], warnings: []});
  const left = paths.slice(100);
  expect(await targets.createTarget(copy, host)).toMatchObject({
    copied: {from: 'qa', redirects: paths.slice(0, 100)},
    missingRedirects: left,
    warnings: [`new lacks 15 redirects: ${left.slice(0, 10).join(', ')}, and 5 more.`],
  });
  const configuration = {redirects: [], prune: true};
  const pruned = await targets.createTarget({...copy, targetSlug: 'pruned', configuration}, host);
  expect(pruned).toMatchObject({missingRedirects: [], warnings: []});
});

describe.each([
  ['ERR_SERVER', 503, 'the request failed: The service is away.'],
  ['ERR_OUTCOME_UNKNOWN', undefined, 'the answer of the service was lost.'],
] as const)('a copy that fails with %s after its target is listed', (code, status, ended) => {
  /** A service that stops a copy once it has so many parts of its source: a variable, a redirect, an access header. */
  async function startStopping(parts: number, others: object = {}) {
    let looks = 0;
    const members = {
      createTarget: async ({targetSlug}: CreateTargetRequest, {error}: BackendContext) => {
        slugs.add(targetSlug);
        throw error(code, 'The service is away.', {status});
      },
      listTargets: async () => ({
        items: [...slugs].map((targetSlug) => ({
          ...{targetSlug, state: targetSlug.startsWith('qa') || (looks += 1) > 1 ? 'ready' : 'creating'},
        })),
      }),
    };
    const has = (part: number, slug: string) => slug === 'qa' || (parts > part && looks > 1);
    const list =
      (part: number, item: object) =>
      async ({targetSlug}: TargetRequest) => ({items: has(part, targetSlug) ? [item] : []});
    const started = await startNameless({
      ...members,
      listVariables: list(0, {name: 'KEY'}),
      listRedirects: list(1, {from: '/a', to: '/'}),
      listAccess: list(2, {accessId: 'a1'}),
      ...others,
    });
    const {slugs} = started;
    return {...started, options: {...started.options, pollInterval: 0.01}};
  }
  const pushRecords = {read: async () => undefined, write: async () => undefined};
  const guard = {confirm: true};
  const confirmTarget = async ({targetSlug}: TargetConfirmation) => targetSlug;

  test.each([
    [0, 'redirect /a, access, variable KEY'],
    [1, 'redirect /a, access'],
    [2, 'access'],
  ])('has failed with %i of 3 parts', async (parts, lacks) => {
    const failed = (targetSlug: string) => ({
      ...{code, status},
      message: `Target ${targetSlug} exists, but lacks ${lacks}, which qa has. The service is away.`,
      suggestions: [
        `To copy it again, delete it first: mycli target:delete ${targetSlug} --project shop --runtime-backend acme`,
      ],
      details: {lacks: lacks.split(', '), targetSlug},
    });
    for (const guarded of [{}, {guard, confirmTarget}]) {
      const {options, host} = await startStopping(parts);
      const copy = targets.createTarget({...options, ...guarded, targetSlug: 'new', copyFrom: 'qa'}, host);
      await expect(copy).rejects.toMatchObject(failed('new'));
    }
    const {options, calls, host} = await startStopping(parts);
    const preview = deployPreview({...options, branch: 'a', copyFrom: 'qa', pushRecords}, host);
    await expect(preview).rejects.toMatchObject(failed('preview-a'));
    expect(calls).toEqual([]);
  });

  test('is one once it has all, with a warning', async () => {
    const {options, host} = await startStopping(3);
    const copy = {...options, targetSlug: 'new', copyFrom: 'qa'};
    const warnings = [`Target new exists, but ${ended}`];
    expect(await targets.createTarget(copy, host)).toMatchObject({created: true, missing: [], warnings});
  });

  test('has failed if nobody can tell what it has', async () => {
    const listRedirects = async (_: object, {error}: BackendContext) => {
      throw error('ERR_FORBIDDEN', 'No.', {status: 403});
    };
    const {options, host} = await startStopping(3, {listRedirects});
    const copy = targets.createTarget({...options, targetSlug: 'new', copyFrom: 'qa'}, host);
    const message = 'Target new exists, but may lack what qa has. The service is away.';
    await expect(copy).rejects.toMatchObject({code, message});
  });
});

test('a preview that its service copied whole is not production, and has not the host of its source', async () => {
  const settings = new Map<string, TargetSettings>([
    ['qa', {production: true, externalHost: 'www.example.com', logLevel: 'debug'}],
  ]);
  const {options, slugs, host} = await startNameless({
    listTargets: async () => ({
      items: [...slugs].map((targetSlug) => ({targetSlug, production: settings.get(targetSlug)?.production})),
    }),
    createTarget: async ({targetSlug, copyFrom = ''}: CreateTargetRequest) => {
      slugs.add(targetSlug);
      settings.set(targetSlug, settings.get(copyFrom) ?? {});
      return {targetSlug};
    },
    readTarget: async ({targetSlug}: TargetRequest) => ({settings: settings.get(targetSlug) ?? {}}),
    updateTarget: async ({targetSlug, settings: changed}: UpdateTargetRequest) =>
      void settings.set(targetSlug, {...settings.get(targetSlug), ...changed}),
  });
  const pushRecords = {read: async () => undefined, write: async () => undefined};
  const preview = {...options, branch: 'a', copyFrom: 'qa', pushRecords};
  const warning = 'Not copied from qa, because they belong to one target: production, externalHost.';
  expect((await planPreview(preview, host)).warnings).toContain(warning);
  const {targetSlug, warnings} = deployedPreview(await deployPreview(preview, host), 'a');
  expect(warnings).toEqual([warning]);
  expect(settings.get(targetSlug)).toEqual({production: false, externalHost: null, logLevel: 'debug'});
  expect(await deletePreview(preview, host)).toMatchObject({deleted: true});
});

test.each([
  ['production', {production: true}, false, 0],
  ['production, before it was ready,', {production: true}, false, 3],
  ['with the host name of its source', {externalHost: 'www.example.com'}, false, 0],
  ['without its access header', {}, true, 0],
])('a preview that a run left %s is finished by the next one', async (_, ofSource, access, looksUntilReady) => {
  const settings = new Map<string, TargetSettings>([['qa', ofSource]]);
  const headers: AccessItem[] = [];
  let interrupted = true;
  let looks = looksUntilReady;
  const refuseOnce = () => {
    if (interrupted) throw new Error('The run ends here.');
  };
  const {options, slugs, calls, host} = await startNameless({
    listTargets: async () => ({
      items: [...slugs].map((targetSlug) =>
        !interrupted && targetSlug.startsWith('preview') && looks-- > 0
          ? {targetSlug, state: 'creating'}
          : {targetSlug, state: 'ready', production: settings.get(targetSlug)?.['production']},
      ),
    }),
    createTarget: async ({targetSlug, copyFrom = ''}: CreateTargetRequest) => {
      slugs.add(targetSlug);
      settings.set(targetSlug, settings.get(copyFrom) ?? {});
      return {targetSlug};
    },
    readTarget: async ({targetSlug}: TargetRequest) => ({settings: settings.get(targetSlug) ?? {}}),
    async updateTarget({targetSlug, settings: changed}: UpdateTargetRequest) {
      refuseOnce();
      settings.set(targetSlug, {...settings.get(targetSlug), ...changed});
    },
    listAccess: async ({targetSlug}: TargetRequest) => ({items: targetSlug === 'qa' ? [] : headers}),
    async changeAccess() {
      refuseOnce();
      headers.push({accessId: `a${String(headers.length + 1)}`});
    },
  });
  const pushRecords = {read: async () => undefined, write: async () => undefined};
  const preview = {
    ...options,
    branch: 'a',
    copyFrom: 'qa',
    pollInterval: 0.01,
    pushRecords,
    configuration: access ? {access} : {},
  };
  await expect(deployPreview(preview, host)).rejects.toThrow('The run ends here.');
  expect(calls).toEqual([]);
  interrupted = false;
  if (looksUntilReady === 0) expect(await planPreview(preview, host)).toMatchObject({creates: false});
  const up = async () => deployedPreview(await deployPreview(preview, host), 'a');
  const finished = await up();
  expect(finished.created).toBe(false);
  const {production = false, externalHost = null} = settings.get(finished.targetSlug) ?? {};
  expect([production, externalHost]).toEqual([false, null]);
  expect(finished.access !== undefined).toBe(access);
  expect((await up()).access).toBeUndefined();
  expect(headers.length).toBe(access ? 1 : 0);
});

test('a preview that is a copy is confirmed once where nobody knows what its source runs', async () => {
  const {options, host} = await startNameless();
  const asked: string[] = [];
  const confirmTarget = async ({operation, targetSlug}: TargetConfirmation) => {
    asked.push(operation);
    return targetSlug;
  };
  const pushRecords = {read: async () => undefined, write: async () => undefined};
  const preview = {...options, branch: 'a', copyFrom: 'qa', guard: {confirm: true}, confirmTarget, pushRecords};
  await deployPreview(preview, host);
  expect(asked).toEqual(['create-target']);
  await deployPreview(preview, host);
  expect(asked).toEqual(['create-target', 'push']);
});

test('a preview needs no records of pushes: without them, it is always uploaded', async () => {
  const {options, calls, host} = await startNameless();
  for (const isFirst of [true, false]) {
    const deployed = deployedPreview(await deployPreview({...options, branch: 'a'}, host), 'a');
    expect(deployed).toMatchObject({created: isFirst, unchanged: false});
  }
  expect(calls.filter((call) => call === 'upload')).toHaveLength(2);
});

test('a preview of a backend that lists no names is one target, which goes down', async () => {
  const {options, slugs, host} = await startNameless();
  const before = [...slugs];
  const pushRecords = {read: async () => undefined, write: async () => undefined};
  for (const branch of ['feature/a', 'feature-a', 'main']) {
    const preview = {...options, branch, pushRecords};
    const {targetSlug} = deployedPreview(await deployPreview(preview, host), branch);
    const again = deployedPreview(await deployPreview(preview, host), branch);
    expect(again).toMatchObject({targetSlug, created: false});
  }
  expect(slugs.size).toBe(before.length + 3);
  for (const branch of ['feature-a', 'feature/a', 'main'])
    expect(await deletePreview({...options, branch}, host)).toMatchObject({deleted: true});
  expect([...slugs]).toEqual(before);
});

describe('a preview that its service does not list as one', () => {
  /** A service that changes the slug of what it makes, or only that of its answer, and lists these names. */
  async function startAssigned(members: object, {lies = false, isNamed = false}) {
    const made: TargetItem[] = [{targetSlug: 'qa', name: 'qa'}];
    const {options, host, calls} = await startNameless({
      listTargets: async () => ({items: made}),
      createTarget: async ({targetSlug, name}: CreateTargetRequest) => {
        const slug = `env-${String(made.length)}`;
        made.push({targetSlug: slug, name: isNamed ? name : undefined, state: 'ready'});
        return {targetSlug: lies ? targetSlug : slug};
      },
      ...members,
    });
    const preview = {...options, branch: 'a', pollInterval: 0.01, timeout: 0.3};
    return {up: async () => deployedPreview(await deployPreview(preview, host), 'a'), made, calls};
  }

  test.each([
    ['without a name', {targetSlugs: 'assigned'}, {}, 'env-1'],
    ['with another slug', {}, {}, 'env-1'],
    ['with another slug than it says', {}, {lies: true}, 'preview-a'],
  ])('%s is named, and nothing is pushed to it', async (_, members, changes, slug) => {
    const {up, calls} = await startAssigned(members, changes);
    await expect(up()).rejects.toMatchObject({
      code: 'ERR_BACKEND_FAILED',
      message: expect.stringContaining(
        `Target ${slug} was created, but is not listed with the requested slug or name`,
      ) as string,
      suggestions: [expect.stringContaining(`mycli target:delete ${slug}`)],
    });
    expect(calls).toEqual([]);
  });

  test.each([{targetSlugs: 'assigned'}, {}])('by its slug is found by its name: %j', async (members) => {
    const {up, made} = await startAssigned(members, {isNamed: true});
    expect(await up()).toMatchObject({targetSlug: 'env-1', created: true});
    expect(await up()).toMatchObject({targetSlug: 'env-1', created: false});
    expect(made).toHaveLength(2);
  });
});

test('a preview without a name beside targets that have one is one target', async () => {
  const {options, slugs, host} = await startNameless({
    listTargets: async () => ({
      items: [...slugs].map((targetSlug) => ({targetSlug, name: targetSlug.startsWith('qa') ? 'QA' : undefined})),
    }),
  });
  const up = async () => deployedPreview(await deployPreview({...options, branch: 'feature/a'}, host), 'feature/a');
  expect(await up()).toMatchObject({created: true});
  expect(await up()).toMatchObject({created: false});
  expect(slugs.size).toBe(3);
});
