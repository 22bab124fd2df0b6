import {expect, test, vi} from 'vitest';
import {createError, isRuntimeCliError, type RuntimeCliError} from '../../src/errors/index.js';
import {resumesUpload} from '../../src/errors/suggestion.js';
import type {OpenBackend} from '../../src/operations/open-backend.js';
import type {Change, Facts, Ledger} from '../../src/pipelines/ledger.js';
import {endOfChange, explain, factsOfChange} from '../../src/pipelines/outcome.js';
import {runPipeline, type Step} from '../../src/pipelines/run.js';
import {stepHost} from './step-host.js';

const open = {
  backend: {listDeployments: () => Promise.resolve({items: []}), deploysOnUpload: ['v1']},
  project: {backend: 'api', projectSlug: 'shop'},
  signal: new AbortController().signal,
  flags: (target?: string) => (target === undefined ? [] : ['--target', target]),
} as unknown as OpenBackend;
const release = {operation: 'push', targetSlug: 'live', rollsBack: true} as Ledger['release'];
const change: Change = {step: '', planned: {operation: 'create-target', targetSlug: 'qa', bundleIds: []} as never};
const setting: Change = {
  step: 'set',
  planned: {operation: 'set-variables', targetSlug: 'live', bundleIds: []} as never,
};
const sent = {call: 'upload', at: new Date(0)} as const;
const deploying = {built: {bundle: {format: 'v1'}}} as unknown as Facts;
const target = {targetSlug: 'qa', created: true};
const created = {release: undefined, target, changes: [change]};
const uploaded = {bundle: {}, bundleId: 2, uploaded: {bundleId: 2}} as unknown as Facts;
const before = [{deployment: {}, bundleId: 1, status: 'finished'}];
const deployed = {...uploaded, deployment: {deploymentId: 'd-7'}, before} as Facts;

const kept = {...release, rollsBack: false} as Ledger['release'];
const left = 'The deployment was not rolled back, because it may still finish.';

const interrupted = createError('ERR_INTERRUPTED', 'Stopped.');
const refused = createError('ERR_REJECTED', 'No.');
const late = createError('ERR_WAIT_TIMEOUT', 'It is late.');
const failed = createError('ERR_DEPLOYMENT_FAILED', 'It failed.');

function told(step: string, error: RuntimeCliError, facts: Partial<Ledger>): RuntimeCliError {
  const ledger: Ledger = {request: {}, release, open, warnings: [], changes: [], ...facts};
  const explained = explain(error, {...ledger, failure: {step, error}});
  if (!isRuntimeCliError(explained)) throw new Error('not ours');
  return explained;
}

/** What happens by step: with these facts, the error says this, and advises that. */
test.each<[step: string, error: RuntimeCliError, facts: Partial<Ledger>, message: string, advice?: string]>([
  ['verify', interrupted, {}, 'Stopped.'],
  ['upload', interrupted, {}, 'Stopped. No bundle was created.'],
  ['upload', interrupted, {sent}, 'Stopped. The bundle may have been uploaded.', 'bundle:list'],
  [
    'upload',
    interrupted,
    {...deploying, sent},
    `Stopped. The bundle may have been uploaded, and its deployment to live may have started. ${left}`,
    'bundle:list\nmycli bundle:history --target live',
  ],
  ['upload', refused, {sent}, 'No.'],
  ['upload', refused, {sent, lost: {bundleId: undefined}}, 'No.', 'bundle:list'],
  ['upload', refused, {...deploying, sent, lost: {bundleId: undefined}}, `No. ${left}`, 'bundle:history --target live'],
  ['upload', refused, {sent, lost: {bundleId: 5}}, 'No.', 'bundle:deploy 5 --target live'],
  ['deploy', interrupted, uploaded, 'Stopped. Bundle 2 was uploaded. Nothing was deployed.', 'bundle:deploy 2'],
  [
    'deploy',
    interrupted,
    {...uploaded, sent},
    `Stopped. Bundle 2 was uploaded. The deployment to live may have started. ${left}`,
    'bundle:history --target live',
  ],
  ['deploy', refused, uploaded, 'Bundle 2 was uploaded, but deploying it to live failed: No.', 'bundle:deploy 2'],
  [
    'deploy',
    refused,
    {...uploaded, uploaded: undefined},
    'Bundle 2 is unchanged, but deploying it to live failed: No.',
    'bundle:deploy 2',
  ],
  ['deploy', refused, {}, 'No.'],
  ['deploy', interrupted, {sent}, `Stopped. The deployment to live may have started. ${left}`, 'bundle:history'],
  ['deploy', interrupted, {sent, release: kept}, 'Stopped. The deployment to live may have started.', 'bundle:history'],
  [
    'wait',
    interrupted,
    {...deployed, release: kept},
    'Stopped. Bundle 2 was uploaded. Deployment d-7 continues.',
    'bundle:history',
  ],
  [
    'wait',
    interrupted,
    deployed,
    `Stopped. Bundle 2 was uploaded. Deployment d-7 continues. ${left}`,
    'bundle:rollback --to 1 --target live',
  ],
  [
    'wait',
    late,
    deployed,
    `Bundle 2 was uploaded. It is late. ${left}`,
    'bundle:history --target live\nTo roll back once it has ended, run: mycli bundle:rollback --to 1 --target live',
  ],
  [
    'wait',
    refused,
    deployed,
    `Bundle 2 was uploaded. No. ${left}`,
    'bundle:history --target live\nTo roll back once it has ended, run: mycli bundle:rollback --to 1 --target live',
  ],
  ['wait', failed, {...deployed, before: undefined}, 'Bundle 2 was uploaded. It failed.', 'bundle:history'],
  [
    'check',
    interrupted,
    deployed,
    'Stopped. Bundle 2 is deployed to live, but has not passed its check yet. It was not rolled back.',
    'bundle:rollback --to 1 --target live',
  ],
  ['invalidate', interrupted, deployed, 'Stopped. Bundle 2 is deployed to live. The cache of live was not cleared.'],
  ['create', interrupted, {release: undefined}, 'Stopped. No target was created.'],
  [
    'create',
    interrupted,
    {release: undefined, changes: [change], sent},
    'Stopped. Target qa may have been created.',
    'target:list',
  ],
  [
    'set',
    interrupted,
    {changes: [setting], sent},
    'Stopped. Target live may have been changed.',
    'env:list --target live',
  ],
  ['set', refused, {changes: [setting], sent}, 'No.', 'env:list --target live'],
  ['delete', interrupted, {sent}, 'Stopped. Target live may have been deleted.', 'target:list'],
  ['delete', interrupted, {changedIn: 'delete'}, 'Stopped. Target live may have been deleted.', 'target:list'],
  ['delete', interrupted, {changedIn: 'create'}, 'Stopped. Nothing was deleted.'],
  ['delete', refused, {sent}, 'Target live may still be deleted: No.', 'target:list'],
  ['delete', refused, {}, 'No.'],
  ['apply', refused, {release: undefined, changes: [change]}, 'No.', 'target:diff qa'],
  ['apply', interrupted, {}, 'Stopped. The configuration of live was not applied.', 'target:diff live'],
  [
    'apply',
    interrupted,
    {...created, isDescribed: true, sent},
    'Stopped. Target qa was created. The configuration of qa may have been applied in part.',
    'target:diff qa',
  ],
  ['apply', refused, {...created, isDescribed: false}, 'Target qa was created. No.', 'target:delete qa'],
  ['wait', late, {...created, isDescribed: true}, 'It is late.', 'target:apply qa'],
  [
    'wait',
    interrupted,
    {...created, isDescribed: true},
    'Stopped. The service continues with target qa.',
    'target:apply qa',
  ],
  ['upload', interrupted, {target}, 'Stopped. Target qa was created. No bundle was created.'],
  ['pause', interrupted, {changes: [{...change, step: 'pause'}]}, 'Stopped. Nothing was changed.'],
  [
    'pause',
    interrupted,
    {changes: [{...change, step: 'pause'}], sent},
    'Stopped. Target live may have been changed.',
    'target:list',
  ],
])('explain: %s', (step, error, facts, message, advice) => {
  const explained = told(step, error, facts);
  expect(explained).toMatchObject({code: error.code, message});
  if (advice === undefined) expect(explained.suggestions).toEqual([]);
  else expect(explained.suggestions.join('\n')).toContain(`mycli ${advice}`);
  if (facts.target) expect(explained.details).toMatchObject({created: true, projectSlug: 'shop'});
  if (facts.bundle) expect(explained.details).toMatchObject({backend: 'api', projectSlug: 'shop', bundleId: 2});
});

test.each<[rollback: Facts['rollback'], more: Partial<Ledger>, code: string, message: string]>([
  [{rolledBack: true, bundleId: 1}, {}, 'ERR_ROLLED_BACK', 'The target live was rolled back and runs bundle 1 again.'],
  [{rolledBack: false, reason: 'nothing ran'}, {}, 'ERR_NOT_ROLLED_BACK', 'It was not rolled back: nothing ran.'],
  [
    {rolledBack: false, bundleId: 1, error: refused},
    {sent},
    'ERR_NOT_ROLLED_BACK',
    'Its rollback to bundle 1 may have started: No.',
  ],
  [
    {rolledBack: false, bundleId: 1, deployment: {}, error: late},
    {},
    'ERR_NOT_ROLLED_BACK',
    'Its rollback to bundle 1 was accepted and may still finish: It is late.',
  ],
  [{rolledBack: false, bundleId: 1, error: interrupted}, {}, 'ERR_INTERRUPTED', 'It was not rolled back.'],
  [{rolledBack: false, bundleId: 1, error: refused}, {}, 'ERR_NOT_ROLLED_BACK', 'It was not rolled back: No.'],
])('explain: a rollback, %j', (rollback, more, code, message) => {
  const explained = told('wait', failed, {...deployed, ...more, rollback});
  const before = code === 'ERR_INTERRUPTED' ? 'Stopped. ' : '';
  expect(explained).toMatchObject({code, message: `${before}Bundle 2 was uploaded. It failed. ${message}`});
  expect(explained.details).toMatchObject({failure: {code: failed.code}, rollback: {rolledBack: rollback?.rolledBack}});
  const isUntried = rollback?.error !== undefined && !message.includes('Its rollback');
  expect(explained.suggestions.includes('To roll back, run: mycli bundle:rollback --to 1 --target live')).toBe(
    isUntried,
  );
});

test.each([
  [5, []],
  [undefined, [resumesUpload]],
])('an upload whose bundle was found (%s) is not resumed', (bundleId, advice) => {
  const error = createError('ERR_OUTCOME_UNKNOWN', 'No.', {suggestions: [resumesUpload]});
  const {advice: given} = told('upload', error, {sent, lost: {bundleId}});
  expect(given.filter((each) => each === resumesUpload)).toEqual(advice);
});

test('a question that fails is told with what is known by then, and ends the run', async () => {
  const {host} = stepHost({});
  const known: Step = {name: 'deploy', title: 'Deploy', run: () => Promise.resolve({open, ...deployed})};
  const after = vi.fn(() => Promise.resolve({}));
  const ask = () => Promise.reject(interrupted);
  const ledgers: Ledger[] = [];
  const onLedger = (ledger: Ledger) => void ledgers.push(ledger);
  const work = runPipeline([known, {ask}, {name: 'after', title: 'After', run: after}], {}, {...host, onLedger});
  await expect(work).rejects.toMatchObject({code: 'ERR_INTERRUPTED', details: {bundleId: 2, projectSlug: 'shop'}});
  expect(ledgers).toMatchObject([{failure: {error: interrupted}}]);
  expect(after).not.toHaveBeenCalled();
});

test("explain: a caller's own reason for an abort stays as it is", () => {
  const reason = new Error('enough');
  const ledger: Ledger = {
    request: {},
    release,
    open,
    warnings: [],
    changes: [],
    failure: {step: 'upload', error: reason},
  };
  expect(explain(reason, ledger)).toBe(reason);
  expect(explain(refused, {...ledger, failure: {step: 'deploy', error: refused}, ...uploaded})).not.toBe(refused);
});

test('hooks get of each change what became known of it, and how it ended', () => {
  const rollback = {rolledBack: false, bundleId: 1, deployment: {deploymentId: 'd-8'}, error: late};
  const ledger: Ledger = {
    request: {},
    release,
    open,
    warnings: [],
    changes: [],
    ...deployed,
    uncleared: refused,
    rollback,
  };
  const of = (operation: string): Change => ({step: '', planned: {operation, bundleIds: []} as never});
  expect(factsOfChange(of('push'), ledger)).toMatchObject({bundleIds: [2], deployment: {deploymentId: 'd-7'}});
  expect(factsOfChange(of('rollback'), ledger)).toMatchObject({deployment: {deploymentId: 'd-8'}});
  expect(factsOfChange(of('invalidate'), ledger)).toEqual({});
  const ends = ['push', 'invalidate', 'rollback'].map((operation) => endOfChange(of(operation), ledger));
  expect(ends).toEqual([{}, {error: refused}, {error: late}]);
});
