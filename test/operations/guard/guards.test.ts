import {mkdir, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {isRuntimeCliError} from '../../../src/errors/index.js';
import type {GuardRules, TargetConfirmation} from '../../../src/operations/options.js';
import type {PushRuntimeBundleBackendOptions} from '../../../src/operations/push/options.js';
import type {Host} from '../../../src/operations/host.js';
import type {LocalRuntimeOptions} from '../../../src/testing.js';
import {makeFolder} from '../../folder.js';
import {commit, git, gitEnvironment} from '../../bundle/provenance/repository.js';
import {startService, type Service} from '../pushed-bundles.js';
import {buildBundle} from '../../../src/pipelines/build.js';
import type {PipelineHost} from '../../../src/pipelines/host.js';
import {deployPreview, prunePreviews} from '../../../src/pipelines/previews.js';
import {createTarget, deleteTarget} from '../../../src/pipelines/targets.js';
import {previewPush} from '../../../src/pipelines/push.js';
import {stepHost} from '../../pipelines/step-host.js';
import {deployBundle, promoteBundle, pushRuntimeBundle, rollbackBundle} from '../calls.js';

interface Release extends Service {
  readonly host: Host;
  /** Options of what deploys to the target `live`, and waits. */
  readonly place: Service['connection'] & {
    preference: 'legacy';
    targetSlug: string;
    wait: boolean;
    pollInterval: number;
  };
  /** Commits a change, and returns the hash. */
  change(): string;
  release(guard: GuardRules, more?: Partial<PushRuntimeBundleBackendOptions>): Promise<number>;
  refusal(guard: GuardRules, more?: Partial<PushRuntimeBundleBackendOptions>): Promise<readonly string[]>;
}

/** A service and a project in a git repository on `main`, whose build is ignored. */
async function startRelease(
  env: Readonly<Record<string, string>> = {},
  options: LocalRuntimeOptions = {},
): Promise<Release> {
  const service = await startService(options);
  const {directory, host: plain} = service.project;
  await writeFile(join(directory, '.gitignore'), 'build\n');
  git(directory, 'init', '-q', '-b', 'main');
  commit(directory, 'first');
  const host = {...plain, env: {...gitEnvironment, ...env}};
  const target = {preference: 'legacy', targetSlug: 'live', wait: true, pollInterval: 0.01} as const;
  const place = {...service.connection, ...target};
  let changes = 0;
  const release = async (guard: GuardRules, more: Partial<PushRuntimeBundleBackendOptions> = {}) =>
    Number((await pushRuntimeBundle({...place, guard, ...more}, host)).bundleId);
  return {
    ...service,
    host,
    place,
    change: () => commit(directory, `change ${String((changes += 1))}`),
    release,
    refusal: async (guard, more) => {
      const before = writesOf(service);
      const failures = await refusalOf(release(guard, more));
      expect(writesOf(service)).toBe(before);
      return failures;
    },
  };
}

const writesOf = ({runtime}: Service) => runtime.requests.filter(({method}) => method !== 'GET').length;

/** The sentences of a refusal. */
async function refusalOf(call: Promise<unknown>): Promise<readonly string[]> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isRuntimeCliError(error)) throw new Error(`It was not refused: ${String(error)}`);
  expect(error).toMatchObject({code: 'ERR_GUARD_REFUSED', exitCode: 3});
  const {failures = []} = error.details as {failures?: readonly {readonly guard: string; readonly message: string}[]};
  expect(error.suggestions.length).toBeGreaterThan(0);
  return failures.map(({guard, message}) => `${guard}: ${message}`);
}

describe('cleanTree', () => {
  test('refuses tracked and untracked changes, but not the build', async () => {
    const {refusal, release, project} = await startRelease();
    await rm(join(project.directory, '.gitignore'));
    expect(await refusal({cleanTree: true})).toEqual(['cleanTree: There are uncommitted changes: .gitignore.']);
    commit(project.directory, 'no ignored files');
    await writeFile(join(project.directory, 'new\u001B[31m.js'), '');
    expect(await refusal({cleanTree: true})).toEqual([
      String.raw`cleanTree: There are uncommitted changes: "new\u001b[31m.js".`,
    ]);
    commit(project.directory, 'the new file');
    await writeFile(join(project.directory, 'build/static/more.js'), '');
    expect(await release({cleanTree: true})).toBe(1);
  });

  test('refuses to deploy a bundle that was built with changes, or does not say', async () => {
    const {release, change, project, place, host} = await startRelease();
    await writeFile(join(project.directory, 'file'), 'one');
    change();
    await writeFile(join(project.directory, 'file'), 'two');
    await release({}, {targetSlug: undefined, wait: false});
    await release({}, {targetSlug: undefined, wait: false, message: 'Release 5'});
    const deploy = (bundleId: number) => deployBundle({...place, bundleId, guard: {cleanTree: true}}, host);
    expect(await refusalOf(deploy(1))).toEqual(['cleanTree: Bundle 1 was built with uncommitted changes.']);
    expect(await refusalOf(deploy(2))).toEqual(['cleanTree: Bundle 2 does not say which commit it was built from.']);
  });
});

describe('branch', () => {
  test('matches patterns, exclusions and the branch of CI', async () => {
    const {refusal, release, project, change} = await startRelease({
      GITHUB_ACTIONS: 'true',
      GITHUB_REF: 'refs/heads/release/2',
    });
    expect(await release({branch: ['main', 'release/*']})).toBe(1);
    expect(await refusal({branch: ['release/*']})).toEqual([
      'branch: The branch main is checked out. Allowed: release/*.',
    ]);
    expect(await refusal({branch: ['**', '!main']})).toEqual([
      'branch: The branch main is checked out. Allowed: **, !main.',
    ]);
    change();
    git(project.directory, 'checkout', '-q', '--detach');
    // The commit is not the one that CI builds.
    expect(await refusal({branch: ['release/*']})).toEqual(['branch: No branch is checked out. Allowed: release/*.']);
  });

  test('of a deployed bundle is the one that it was built on, also with a message of its own', async () => {
    const {release, project, place, host, change} = await startRelease();
    git(project.directory, 'switch', '-q', '-c', 'feature/x');
    change();
    await release({branch: ['**']}, {targetSlug: 'staging', message: 'Release 5'});
    git(project.directory, 'switch', '-q', 'main');
    const promote = (branch: readonly string[]) => promoteBundle({...place, from: 'staging', guard: {branch}}, host);
    expect(await refusalOf(promote(['main']))).toEqual([
      'branch: Bundle 1 was built on the branch feature/x. Allowed: main.',
    ]);
    expect(await promote(['feature/*'])).toMatchObject({bundleId: 1});
  });
});

test('origin compares the remote however it is written, and shows no credentials', async () => {
  const {refusal, release, project} = await startRelease();
  const guard = {origin: 'https://git.example/shop/site'};
  expect(await refusal(guard)).toEqual([
    'origin: The repository must be a clone of https://git.example/shop/site, but has no remote named origin.',
  ]);
  git(project.directory, 'remote', 'add', 'origin', 'https://ann:canary@git.example/shop/other.git');
  expect(await refusal(guard)).toEqual([
    'origin: The repository must be a clone of https://git.example/shop/site, but is a clone of https://git.example/shop/other.',
  ]);
  git(project.directory, 'remote', 'set-url', 'origin', 'git@GIT.example:shop/site.git');
  expect(await release(guard)).toBe(1);
});

describe('notOlder', () => {
  const guard = {notOlder: true};

  test('lets a newer commit and the same one pass, and refuses an older and a diverged one', async () => {
    const {refusal, release, change, project} = await startRelease();
    expect(await release(guard)).toBe(1);
    const second = change();
    expect(await release(guard)).toBe(2);
    expect(await release(guard)).toBe(3);
    git(project.directory, 'switch', '-q', '-c', 'old', 'HEAD~1');
    expect(await refusal(guard)).toEqual([
      expect.stringMatching(
        new RegExp(`^notOlder: The commit \\w{12} is older than ${second.slice(0, 12)}, which live runs`),
      ),
    ]);
    change();
    expect(await refusal(guard)).toEqual([expect.stringContaining(` does not contain ${second.slice(0, 12)}`)]);
    expect(await release({notOlder: false})).toBe(4);
  });

  test('of a deployed bundle compares what it was built from', async () => {
    const {release, change, place, host} = await startRelease();
    await release(guard);
    change();
    await release(guard);
    const deploy = (bundleId: number | 'latest') => deployBundle({...place, bundleId, guard}, host);
    expect(await refusalOf(deploy(1))).toEqual([expect.stringContaining('is older than')]);
    await expect(deploy(1)).rejects.toMatchObject({
      suggestions: [
        expect.stringMatching(/^To deploy it on purpose, use mycli bundle:rollback --to 1 --project shop /),
      ],
    });
    expect(await deploy('latest')).toMatchObject({bundleId: 2});
    expect(await rollbackBundle({...place, to: 1, guard}, host)).toMatchObject({bundleId: 1, status: 'finished'});
  });

  test('counts a deployment that is still running', async () => {
    const {refusal, release, change, project} = await startRelease({}, {deploymentSeconds: 600});
    change();
    const newer = await release({}, {targetSlug: 'live', wait: false});
    git(project.directory, 'checkout', '-q', 'HEAD~1');
    expect(await refusal(guard)).toEqual([
      expect.stringContaining(`, which live is getting (bundle ${String(newer)})`),
    ]);
  });

  test('looks again right before the deployment', async () => {
    const {release, change, place, host, project} = await startRelease();
    await release({});
    change();
    const newer = await release({}, {targetSlug: undefined, wait: false});
    git(project.directory, 'checkout', '-q', 'HEAD~1');
    const rules = {...guard, confirm: true};
    // Somebody else deploys while the person is asked.
    const confirmTarget = async ({targetSlug}: TargetConfirmation) => {
      await deployBundle({...place, bundleId: newer}, host);
      return targetSlug;
    };
    // One of them deploys with the upload, the other after it.
    expect(await refusalOf(release(rules, {confirmTarget}))).toEqual([expect.stringContaining('is older than')]);
    await deployBundle({...place, bundleId: 1}, host);
    await expect(release(rules, {confirmTarget, v2: true})).rejects.toMatchObject({
      code: 'ERR_GUARD_REFUSED',
      message: expect.stringMatching(
        /^Bundle 3 was uploaded, but deploying it to live failed: .* is older than/,
      ) as string,
      suggestions: [expect.stringContaining('To deploy it on purpose, use mycli bundle:rollback --to 3 ')],
    });
    await deployBundle({...place, bundleId: 1}, host);
    const again = deployBundle({...place, bundleId: 1, guard: rules, confirmTarget}, host);
    expect(await refusalOf(again)).toEqual([expect.stringContaining('is older than')]);
    await deployBundle({...place, bundleId: 1}, host);
    await deployBundle({...place, targetSlug: 'staging', bundleId: 1}, host);
    const promotion = promoteBundle({...place, from: 'staging', guard: rules, confirmTarget}, host);
    expect(await refusalOf(promotion)).toEqual([expect.stringContaining('is older than')]);
  });

  test('refuses what it cannot tell, and says how to find out', async () => {
    const {refusal, release, change, project} = await startRelease();
    await release({}, {message: 'Release 5'});
    expect(await refusal(guard)).toEqual([
      'notOlder: The target live runs bundle 1, which does not say which commit it was built from.',
    ]);
    change();
    change();
    await release({});
    const shallow = await makeFolder({});
    git(shallow, 'clone', '-q', '--depth', '1', `file://${project.directory}`, 'clone');
    const clone = join(shallow, 'clone');
    commit(clone, 'newer');
    await mkdir(join(clone, 'build'));
    const buildDirectory = join(project.directory, 'build');
    const push = () => release(guard, {projectDirectory: clone, message: 'x', buildDirectory, wait: false});
    await push();
    // It diverges from here, as far as the shallow clone knows.
    git(clone, 'checkout', '-q', '--orphan', 'other');
    commit(clone, 'unrelated');
    await expect(push()).rejects.toMatchObject({
      message: expect.stringContaining('This clone is shallow') as string,
      suggestions: [expect.stringContaining('git fetch --unshallow')],
    });
    expect(await refusal(guard)).toEqual([expect.stringContaining('This clone does not have the commit')]);
    await rm(join(project.directory, '.git'), {recursive: true});
    expect(await refusal(guard)).toEqual([expect.stringContaining('is not in a git work tree')]);
    git(project.directory, 'init', '-q');
    await expect(release(guard)).rejects.toMatchObject({
      suggestions: [expect.stringMatching(/^Make a first commit, or run the command in a clone/)],
    });
  });
});

describe('ciOnly and confirm', () => {
  test('refuse outside CI, and without a person to ask', async () => {
    const {refusal} = await startRelease();
    expect(await refusal({ciOnly: true, confirm: true})).toEqual([
      'ciOnly: Only CI may deploy to live.',
      'confirm: A person must type "live" to confirm, but there is no terminal to ask in.',
    ]);
  });

  test('let CI pass, and a person who types the name', async () => {
    const {release, refusal} = await startRelease({CI: 'true'});
    expect(await refusal({ciOnly: true, confirm: true})).toEqual([
      'confirm: A person must type "live" to confirm, but this is a CI run.',
    ]);
    const asked: TargetConfirmation[] = [];
    const answer = (typed: string) => (confirmation: TargetConfirmation) => {
      asked.push(confirmation);
      return Promise.resolve(typed);
    };
    const guard = {ciOnly: true, confirm: true};
    expect(await release(guard, {confirmTarget: answer(' live ')})).toBe(1);
    expect(await refusal(guard, {confirmTarget: answer('staging')})).toEqual([
      'confirm: The name of the target was not confirmed.',
    ]);
    expect(asked).toEqual(Array(2).fill({operation: 'push', projectSlug: 'shop', targetSlug: 'live'}));
  });

  test('apply to a rollback, and no other guard does', async () => {
    const {release, change, place, host} = await startRelease();
    await release({});
    change();
    await release({});
    const guard = {ciOnly: true, confirm: true};
    expect(await refusalOf(rollbackBundle({...place, guard}, host))).toHaveLength(2);
    const others = {cleanTree: true, branch: ['other'], origin: 'https://git.example/x', notOlder: true, confirm: true};
    const confirmTarget = () => Promise.resolve('live');
    const rolledBack = await rollbackBundle({...place, guard: others, confirmTarget}, host);
    expect(rolledBack).toMatchObject({bundleId: 1, rolledBackFrom: 2});
  });
});

test('guards that refuse are named by one error, and a dry run reports it, too', async () => {
  const {place, host, project} = await startRelease();
  await writeFile(join(project.directory, 'new.js'), '');
  const preview = previewPush({...place, guard: {cleanTree: true, branch: ['release'], ciOnly: true}}, host);
  await expect(preview).rejects.toMatchObject({
    message: expect.stringMatching(
      /^The guards cleanTree, branch, and ciOnly of live blocked this push\. There are.*\. The branch.*\. Only CI/,
    ) as string,
  });
});

describe('a copy of a target', () => {
  test('is guarded as a deployment of what its source runs', async () => {
    const {release, change, project, place, host, runtime} = await startRelease();
    await release({cleanTree: true}, {targetSlug: 'staging'});
    await writeFile(join(project.directory, '.gitignore'), 'build\n# changed');
    const api = {...place, preference: 'api'} as const;
    for (const service of [place, api]) {
      const copy = {...service, targetSlug: 'copy', copyFrom: 'staging'};
      const refused = async (guard: GuardRules, more: object = {}) =>
        refusalOf(createTarget({...copy, guard, ...more}, host));
      expect(await refused({ciOnly: true, confirm: true, branch: ['other']}, {dryRun: true})).toEqual([
        'branch: Bundle 1 was built on the branch main. Allowed: other.',
        'ciOnly: Only CI may deploy to copy.',
        'confirm: A person must type "copy" to confirm, but there is no terminal to ask in.',
      ]);
      const asked: TargetConfirmation[] = [];
      const answer = (typed: string) => (confirmation: TargetConfirmation) => {
        asked.push(confirmation);
        return Promise.resolve(typed);
      };
      const guard = {cleanTree: true, branch: ['main'], notOlder: true, confirm: true};
      expect(await refused(guard, {confirmTarget: answer('staging')})).toEqual([
        'confirm: The name of the target was not confirmed.',
      ]);
      expect(runtime.requests.filter(({route}) => route === 'create-target')).toHaveLength(service === place ? 0 : 1);
      change();
      const confirmed = {...copy, guard, ifMissing: true, confirmTarget: answer('copy')};
      expect(await createTarget(confirmed, host)).toMatchObject({created: true, copied: {bundleId: 1}});
      expect(asked).toEqual(
        Array(2).fill({operation: 'create-target', projectSlug: 'shop', targetSlug: 'copy', bundleId: 1}),
      );
      // Nothing is deployed to one that is there.
      expect(await createTarget(confirmed, host)).toMatchObject({created: false});
      expect(asked).toHaveLength(2);
      await deleteTarget({...service, targetSlug: 'copy', ifExists: true}, host);
    }
  });

  test('of a target that runs nothing deploys nothing, and no guard is asked', async () => {
    const {place, host} = await startRelease();
    await createTarget({...place, targetSlug: 'empty'}, host);
    const copy = {...place, targetSlug: 'copy', copyFrom: 'empty', guard: {ciOnly: true, confirm: true}};
    expect(await createTarget(copy, host)).toMatchObject({created: true});
  });

  test('for a preview is confirmed before it is made, and its push not again', async () => {
    const {release, place, host, runtime, project} = await startRelease();
    await release({}, {targetSlug: 'staging'});
    const made = () => runtime.requests.filter(({route}) => route === 'create-target').length;
    const {targetSlug: _, ...rest} = place;
    const asked: (readonly [operation: string, made: number])[] = [];
    const up = (typed: string, more: object = {}) => {
      const confirmTarget = ({operation}: TargetConfirmation) => {
        asked.push([operation, made()]);
        return Promise.resolve(typed);
      };
      const guard = {branch: ['main'], confirm: true};
      const options = {...rest, branch: 'feature', copyFrom: 'staging', guard, confirmTarget, ...more};
      const pushRecords = {read: () => Promise.resolve(undefined), write: () => Promise.resolve()};
      return deployPreview({...options, projectDirectory: project.directory, pushRecords}, host);
    };
    expect(await refusalOf(up('other'))).toEqual(['confirm: The name of the target was not confirmed.']);
    await up('preview-feature');
    await up('preview-feature');
    // Nothing was deployed with a copy of a target that runs nothing.
    await createTarget({...place, targetSlug: 'empty'}, host);
    await up('preview-other', {branch: 'other', copyFrom: 'empty'});
    expect(asked).toEqual([
      ['create-target', 0],
      ['create-target', 0],
      ['push', 1],
      ['push', 3],
    ]);
  });
});

test('the deletion of several previews is confirmed one by one, with a line before, and before anything is deleted', async () => {
  const {release, place, host, runtime} = await startRelease();
  for (const targetSlug of ['preview-a', 'preview-b']) await release({}, {targetSlug});
  const lines: string[] = [];
  const {terminal} = stepHost({info: (line) => void lines.push(line)}).host;
  const {targetSlug: _, ...rest} = place;
  const asked: (string | undefined)[] = [];
  const beforeWrite: PipelineHost['beforeWrite'] = async ({targetSlug}, {dryRun}) =>
    void (dryRun && asked.push(targetSlug));
  const prune = (answers: readonly string[], dryRun = false) => {
    const left = [...answers];
    const confirmTarget = ({targetSlug}: TargetConfirmation) => {
      lines.push(`asked about ${targetSlug}`);
      return Promise.resolve(left.shift() ?? '');
    };
    // The service tells its time in whole seconds.
    const options = {...rest, olderThanMs: -60_000, guard: {confirm: true}, confirmTarget, dryRun};
    return prunePreviews(options, {...host, terminal, beforeWrite});
  };
  // A dry run asks plugins only.
  await prune([], true);
  expect([lines.filter((line) => line.startsWith('asked')), asked]).toEqual([[], ['preview-a', 'preview-b']]);
  await expect(prune(['preview-a', 'preview-a'])).rejects.toMatchObject({
    message:
      'The guard confirm of preview-b blocked this deletion of the target. ' +
      'The name of the target was not confirmed. Nothing was deleted.',
  });
  expect(lines.slice(lines.findIndex((line) => line.startsWith('Preview')))).toEqual([
    ...['Preview 1 of 2: preview-a', 'asked about preview-a'],
    ...['Preview 2 of 2: preview-b', 'asked about preview-b'],
  ]);
  expect(runtime.requests.filter(({method}) => method === 'DELETE')).toEqual([]);
  expect(await prune(['preview-a', 'preview-b'])).toMatchObject({deleted: ['preview-a', 'preview-b']});
});

test('guards only apply to what changes a target', async () => {
  const {release} = await startRelease();
  expect(await release({ciOnly: true, branch: ['x']}, {targetSlug: undefined, wait: false})).toBe(1);
});

test('a prebuilt archive is judged by its manifest', async () => {
  const {release, refusal, project, host, change} = await startRelease();
  const folder = await makeFolder({});
  onTestFinished(() => rm(folder, {recursive: true, force: true}));
  const output = join(folder, 'site.tar.gz');
  const {bundle} = await buildBundle({output, message: 'Release 5'}, host);
  expect(bundle.provenance).toMatchObject({branch: 'main', dirty: false});
  git(project.directory, 'switch', '-q', '-c', 'other');
  change();
  const more = {archive: output, buildDirectory: undefined, v2: true};
  expect(await refusal({branch: ['other']}, more)).toEqual([
    `branch: ${output} was built on the branch main. Allowed: other.`,
  ]);
  expect(await release({branch: ['main'], cleanTree: true, notOlder: true}, more)).toBe(1);
});
