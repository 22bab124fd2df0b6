import assert from 'node:assert/strict';
import {Writable} from 'node:stream';
import {capabilitiesOf, optionalCalls} from '../../backends/call.js';
import type {Backend, BackendCapability, BundleId, DeploymentRef} from '../../backends/contract.js';
import {assertAbortEnds, assertNotOfNetwork, assertHasCode, failureOf, offered, type Check} from '../check.js';
import {
  checkDeployment,
  deleteBundle,
  deploy,
  download,
  fromJson,
  listBundles,
  listDeployments,
  listTargets,
  promote,
  pushToTarget,
  readLogPart,
  waitUntilFinished,
} from '../steps.js';
import {watchConsole} from '../observations.js';
import type {Subject} from '../subject.js';

/** What a capability is used on. */
export interface Prepared {
  readonly bundleId: BundleId;
  /** Undefined unless the backend deploys, and the use needs it. */
  readonly deployment?: DeploymentRef | undefined;
}

/** One use of a capability. */
type Use = (subject: Subject, prepared: Prepared, signal?: AbortSignal) => Promise<unknown>;

/** How each capability is used. */
export const uses: Readonly<Record<BackendCapability, Use>> = {
  deploy: (subject, {bundleId}, signal) => deploy(subject, bundleId, {signal}),
  promote: (subject, {bundleId}, signal) => promote(subject, bundleId, {signal}),
  wait: (subject, prepared, signal) => checkDeployment(subject, deploymentOf(prepared), {signal}),
  list: (subject, _, signal) => listBundles(subject, {limit: 10, offset: 0}, {signal}),
  history: (subject, _, signal) => listDeployments(subject, {limit: 10, offset: 0}, {signal}),
  targets: (subject, _, signal) => listTargets(subject, {limit: 10, offset: 0}, {signal}),
  logs: (subject, prepared, signal) => readLogPart(subject, {deployment: deploymentOf(prepared)}, {signal}),
  download: (subject, {bundleId}, signal) =>
    download(subject, {bundleId, writeTo: new Writable({write: discard})}, signal),
  delete: (subject, {bundleId}, signal) => deleteBundle(subject, bundleId, {signal}),
};

/** Those that are used on a bundle that is deployed. The others need no deployment, or refuse such a bundle. */
const usedOnDeployed: ReadonlySet<BackendCapability> = new Set(['promote', 'wait', 'history', 'targets', 'logs']);

/** Prepares what a capability is used on. */
export async function prepare(subject: Subject, capability: BackendCapability): Promise<Prepared> {
  const {formats, deploy: member, deploysOnUpload = []} = subject.backend;
  const canDeploy = member !== undefined || formats.slice(0, 1).some((format) => deploysOnUpload.includes(format));
  if (!canDeploy || !usedOnDeployed.has(capability)) {
    return {bundleId: await subject.upload(await subject.makeBundle())};
  }
  const pushed = await pushToTarget(subject);
  if (subject.backend.getDeployment) await waitUntilFinished(subject, pushed.deployment);
  return {...pushed, deployment: fromJson(pushed.deployment)};
}

/** Cases for what can happen to the requests of each capability. */
export function requestChecks(backend: Backend): readonly Check[] {
  const capabilities = capabilitiesOf(backend);
  const reading = optionalCalls.filter(({reads}) => reads);
  return [
    // A download is aborted in its own way: in the middle.
    ...capabilities.filter((capability) => capability !== 'download').map(abortCheck),
    ...capabilities.map(failureCheck),
    ...reading.flatMap(({capability}) => (capabilities.includes(capability) ? [lostAnswerCheck(capability)] : [])),
  ];
}

function abortCheck(capability: BackendCapability): Check {
  return {
    name: `${capability}: an abort ends it within a second`,
    async run(scope) {
      const subject = await scope.open();
      const hold = offered(subject.service, 'holdRequests');
      const prepared = await prepare(subject, capability);
      await assertAbortEnds(activityOf(capability), subject, async (signal, abort) => {
        await hold(abort);
        await uses[capability](subject, prepared, signal);
      });
    },
  };
}

function failureCheck(capability: BackendCapability): Check {
  return {
    name: `${capability}: a failure of the service is reported with a code`,
    async run(scope) {
      const subject = await scope.open();
      const fail = offered(subject.service, 'failRequests');
      const prepared = await prepare(subject, capability);
      await fail();
      const what = `${activityOf(capability)}, which failed on the server,`;
      const error = await failureOf(what, uses[capability](subject, prepared));
      assertHasCode(error);
      assertNotOfNetwork(error);
    },
  };
}

function lostAnswerCheck(capability: BackendCapability): Check {
  return {
    name: `${capability}: a lost answer is requested again`,
    async run(scope) {
      const subject = await scope.open();
      const lose = offered(subject.service, 'loseAnswers');
      const prepared = await prepare(subject, capability);
      await lose(1);
      await uses[capability](subject, prepared).catch((error: unknown) => {
        assert.fail(
          `${activityOf(capability)} failed because one answer was lost. It only reads, so request it again: ` +
            `context.http does unless "repeatable" is false; with another client, call context.waitToRetry(). ` +
            `It failed with: ${error instanceof Error ? error.message : String(error)}`,
        );
      });
    },
  };
}

/** Cases for requests that change something: if an answer is lost, they may have been carried out. */
export const unrepeatableChecks: readonly Check[] = [
  {
    name: 'upload: no bundle is stored twice if an answer is lost',
    async run(scope) {
      const subject = await scope.open();
      const lose = offered(subject.service, 'loseAnswers');
      const count = offered(subject.service, 'countUploads');
      const bundle = await subject.makeBundle();
      await lose(1);
      // Whether it succeeds depends on the service: only some can find out whether the first request was carried out.
      await subject.upload(bundle).catch(() => undefined);
      assertNotRepeated('The bundle', await count());
    },
  },
];

/** The same for deployments, which the history shows. */
export const unrepeatableDeployChecks: readonly Check[] = [
  {
    name: 'deploy: no bundle is deployed twice if an answer is lost',
    async run(scope) {
      const subject = await scope.open();
      const lose = offered(subject.service, 'loseAnswers');
      const bundleId = await subject.upload(await subject.makeBundle());
      await lose(1);
      await deploy(subject, bundleId).catch(() => undefined);
      assertNotRepeated('The deployment', (await listDeployments(subject)).items.length);
    },
  },
];

function assertNotRepeated(what: string, count: number): void {
  assert.ok(
    count <= 1,
    `${what} was requested again after an answer was lost, and now there are ${String(count)}. ` +
      'Set "repeatable" only for requests that may arrive twice, such as a PUT.',
  );
}

/** Cases for retries beyond those that the host allows. */
export const retryChecks: readonly Check[] = [
  {
    name: 'upload: no more retries than the host allows',
    async run(scope) {
      const subject = await scope.open();
      const count = offered(subject.service, 'countRequests');
      const limit = offered(subject.service, 'limitUploads');
      const before = await count();
      await subject.upload(await subject.makeBundle());
      const single = (await count()) - before;
      const bundle = await subject.makeBundle();
      await limit(Infinity);
      // Another case tests that it fails, and how.
      await subject.upload(bundle).catch(() => undefined);
      const sent = (await count()) - before - single;
      const allowed = single * (1 + subject.maxRetries);
      assert.ok(
        sent <= allowed,
        `The backend sent ${String(sent)} requests for a rate-limited upload, but at most ${String(allowed)} are ` +
          'allowed. Stop when context.waitToRetry() returns false, and turn off the retries of other clients.',
      );
    },
  },
];

/** Cases for what a backend is lent. */
export const lentChecks: readonly Check[] = [
  {
    name: 'options, bundles and requests are left as they are',
    async run(scope) {
      const subject = await scope.open();
      subject.protectLent();
      try {
        await useEverything(subject);
      } catch (error) {
        // Whatever fails after a change was refused, the change is why.
        if (subject.changes.length === 0) throw error;
      }
      const [change = ''] = subject.changes;
      assert.equal(
        subject.changes.length,
        0,
        `The backend changes ${change}, which other calls use, too. Change a copy instead.`,
      );
    },
  },
  {
    name: 'nothing is printed',
    async run(scope) {
      const subject = await scope.open();
      const prints = await watchConsole(() => useEverything(subject));
      assert.ok(
        !prints,
        'The backend prints to the console, which breaks the output of --json and shows secrets. Use context.logger.',
      );
    },
  },
];

/** Uses everything that a backend can do, once. */
async function useEverything(subject: Subject): Promise<void> {
  const capabilities = capabilitiesOf(subject.backend);
  await subject.check();
  const onDeployed = capabilities.filter((one) => usedOnDeployed.has(one));
  if (onDeployed[0] !== undefined) {
    const deployed = await prepare(subject, onDeployed[0]);
    for (const capability of onDeployed) await uses[capability](subject, deployed);
  }
  const bundleId = await subject.upload(await subject.makeBundle());
  // Nothing waits for this deployment: what follows is not sent to its target.
  for (const capability of capabilities.filter((one) => !usedOnDeployed.has(one) && one !== 'delete')) {
    await uses[capability](subject, {bundleId});
  }
  if (capabilities.includes('delete')) await uses.delete(subject, await prepare(subject, 'delete'));
}

function deploymentOf({deployment}: Prepared): DeploymentRef {
  assert.ok(deployment, 'This case requires a deployment, and the backend does not deploy.');
  return deployment;
}

function activityOf(capability: BackendCapability): string {
  const doing = optionalCalls.find((call) => call.capability === capability)?.doing ?? capability;
  return doing.charAt(0).toUpperCase() + doing.slice(1);
}

function discard(_piece: unknown, _encoding: unknown, done: () => void): void {
  done();
}
