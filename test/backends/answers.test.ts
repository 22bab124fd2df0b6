import {expect, test} from 'vitest';
import {apiBackend} from '../../src/backends/api/backend.js';
import type {BuiltInContext} from '../../src/backends/host-backend.js';
import type {ListResult} from '../../src/backends/contract.js';
import {legacyBackend} from '../../src/backends/legacy/backend.js';
import {ApiKeyStrategy, BearerTokenStrategy} from '../../src/http/index.js';
import {startRecordingServer} from '../recording-server.js';
import {contextFor, promised} from './context-for.js';

// What the host is told of each word that a service has, and when it has none. Whole answers are those of
// test/wire/recorded.test.ts and of the local runtime, which passes the conformance suite; what is no answer at all is
// the model's.

const range = {limit: 1};
const inTarget = {...range, targetSlug: 'staging'};
const deployment = {bundleId: 7, targetSlug: 'staging'};

/** The one item of a page. */
const only = async (list: Promise<ListResult<object>>): Promise<object> => (await list).items[0] ?? {};
const legacyPage = (row: object) => ({count: 1, results: [{id: 7, bundle: {id: 7}, ...row}]});
const apiPage = (row: object) => ({total: 1, data: [{bundleId: 7, deploymentId: 'd', ...row}]});

interface Reading {
  readonly call: (context: never) => Promise<object>;
  /** The answer with some members. */
  readonly answer: (members: object) => object;
  /** What is told of members, or that the answer is invalid. */
  readonly told: readonly (readonly [members: object, told: object | 'invalid'])[];
}

const statuses = (words: Readonly<Record<string, string>>, unset = 'queued') => [
  ...Object.entries(words).map(([word, status]) => [{status: word}, {status}] as const),
  ...[{}, {status: null}].map((members) => [members, {status: unset}] as const),
];
const legacyWords = {Queued: 'queued', 'In Progress': 'in_progress', Failed: 'failed', Finished: 'finished'};
const apiWords = {queued: 'queued', in_progress: 'in_progress', failed: 'failed', finished: 'finished'};

const time = '2026-01-02T03:04:04.000Z';
const bundleStatus = (status: string) => ({status, message: undefined, createdAt: undefined, createdBy: undefined});

const readings: Readonly<Record<string, Reading>> = {
  'legacy: the list of bundles': {
    call: (context) => only(promised(legacyBackend.listBundles)(range, context)),
    answer: legacyPage,
    told: [
      [
        {status: 1, message: 'main', user: 'jane', created_at: time, in_use_by: ['staging']},
        {status: 'ready', message: 'main', createdBy: 'jane', createdAt: time, inUseBy: ['staging']},
      ],
      ...([0, 2, 3, 'completed', undefined] as const).map((status, at) => {
        const words = ['preparing', 'broken', 'unknown', 'unknown', 'unknown'];
        return [{status}, bundleStatus(String(words[at]))] as const;
      }),
      ...['CLEANUP_QUEUED', 'CLEANUP_FAILED'].map(
        (word) => [{status: 1, deletion_status: word}, {status: 'deleting'}] as const,
      ),
    ],
  },
  'legacy: a deployment': {
    call: (context) => promised(legacyBackend.deploy)(deployment, context),
    answer: (members) => ({bundle_id: 7, ...members}),
    told: [[{warnings: ['careful']}, {warnings: ['careful']}], ...statuses({...legacyWords, accepted: 'queued'})],
  },
  'legacy: the list of deployments': {
    call: (context) => only(promised(legacyBackend.listDeployments)(inTarget, context)),
    answer: legacyPage,
    told: [...statuses({...legacyWords, Cancelled: 'unknown'}, 'unknown'), [{status: 4}, {status: 'unknown'}]],
  },
  'legacy: a look at the deployment that is waited for': {
    call: (context) => promised(legacyBackend.getDeployment)({...deployment, before: 'none'}, context),
    answer: legacyPage,
    told: [
      ...statuses(legacyWords),
      [{status: 'Cancelled'}, 'invalid'],
      // Of which bundle it is, is not told yet: it is looked at again.
      [{status: 'Finished', bundle: null}, {status: 'queued'}],
      [{status: 'Finished', bundle: {id: 8}}, {status: 'queued'}],
    ],
  },
  'Api: the list of bundles': {
    call: (context) => only(promised(apiBackend.listBundles)(range, context)),
    answer: apiPage,
    told: [
      [
        {status: 'ok', description: 'main', createdBy: 'jane', creationDate: time, inUseBy: ['staging']},
        {status: 'ready', message: 'main', createdBy: 'jane', createdAt: time, inUseBy: ['staging']},
      ],
      [{status: 'broken'}, bundleStatus('broken')],
      [{status: 'preparing'}, bundleStatus('preparing')],
      [{status: 'odd'}, bundleStatus('unknown')],
      [{}, bundleStatus('unknown')],
      [{status: 'ok', lifecycleStatus: 'deleting'}, {status: 'deleting'}],
    ],
  },
  'Api: a deployment': {
    call: (context) => promised(apiBackend.deploy)(deployment, context),
    answer: (members) => ({deploymentId: 'd', ...members}),
    told: [[{url: 'http://runtime.example/'}, {url: 'http://runtime.example/', warnings: []}], ...statuses(apiWords)],
  },
  'Api: the list of deployments': {
    call: (context) => only(promised(apiBackend.listDeployments)(inTarget, context)),
    answer: apiPage,
    told: [
      [{statusMessage: 'All is well.'}, {description: 'All is well.'}],
      ...statuses({...apiWords, cancelled: 'unknown'}),
    ],
  },
  'Api: a look at the deployment that is waited for': {
    call: (context) => promised(apiBackend.getDeployment)({deploymentId: 'd', targetSlug: 'staging'}, context),
    answer: (members) => ({deploymentId: 'd', statusMessage: 'All is well.', ...members}),
    told: [
      [
        {progress: {description: 'Copying the files.', percentage: 40}},
        {description: 'Copying the files.', percentage: 40},
      ],
      [{progress: null}, {description: 'All is well.', percentage: undefined}],
      ...statuses(apiWords),
      [{status: 'cancelled'}, 'invalid'],
    ],
  },
};

const rows = Object.entries(readings).flatMap(([name, {call, answer, told}]) =>
  told.map(([members, expected]) => ({name, members, expected, call, answer})),
);

test.each(rows)('$name: of $members, $expected is told', async ({name, members, expected, call, answer}) => {
  const body = answer(members);
  await using server = await startRecordingServer(() => ({status: 200, body}));
  const connection = {origin: server.origin, organizationId: 'org', auth: new BearerTokenStrategy('token')};
  const options = name.startsWith('Api') ? {connection} : {...server, auth: new ApiKeyStrategy({apiKey: 'key'})};
  const context: BuiltInContext = await contextFor<unknown>(options);
  const result = call(context as never);
  if (expected === 'invalid') await expect(result).rejects.toMatchObject({code: 'ERR_RESPONSE_INVALID', exitCode: 7});
  else expect(await result).toMatchObject(expected);
});

test.each([
  [{detail: 'No.'}, 'No.'],
  [{message: 'No.'}, 'No.'],
  [{title: 'Unprocessable Entity', detail: 'No.'}, 'No.'],
  // The title is the phrase of the status, which the message has already.
  [{title: 'Unprocessable Entity'}, undefined],
])('legacy: the reason in a refusal of %j is told', async (body, serverMessage) => {
  await using server = await startRecordingServer(() => ({status: 422, body}));
  const context = await contextFor({origin: server.origin, auth: new ApiKeyStrategy({apiKey: 'key'})});
  const details = serverMessage === undefined ? undefined : {serverMessage};
  const refused = promised(legacyBackend.listBundles)(range, context);
  await expect(refused).rejects.toMatchObject({code: 'ERR_REJECTED', status: 422, details});
});
