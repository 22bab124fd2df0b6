import {expect, test, describe} from 'vitest';
import type {DeploymentItem} from '../../../src/backends/contract.js';
import {createBackendRegistry} from '../../../src/backends/registry.js';
import {createError, isRuntimeCliError} from '../../../src/errors/index.js';
import type {PushRuntimeBundleBackendOptions} from '../../../src/operations/push/options.js';
import type {RuntimeEvent} from '../../../src/operations/events.js';
import type {Host} from '../../../src/operations/host.js';
import {deleteTarget, listTargets} from '../../../src/pipelines/targets.js';
import {startService, stagingHistory as history, type Service} from '../pushed-bundles.js';
import {deployBundle, promoteBundle, pushRuntimeBundle, rollbackBundle} from '../calls.js';

const home = {url: '/static/index.html', retries: 0};
const staging = {preference: 'legacy', targetSlug: 'staging', pollInterval: 0.01} as const;
type Options = Partial<PushRuntimeBundleBackendOptions>;

function push({connection, project}: Service, options: Options = {}, host: Host = project.host) {
  return pushRuntimeBundle({...connection, ...staging, v2: true, ...options}, host);
}

/** A fault of the site of every target: no deployment is healthy. */
const broken = '503:route=site';

/** A service whose target `staging` runs bundle 1. */
async function startDeployed(): Promise<Service> {
  const service = await startService();
  await service.push({targetSlug: 'staging'});
  return service;
}

async function failureOf(promise: Promise<unknown>) {
  const error: unknown = await promise.catch((reason: unknown) => reason);
  if (!isRuntimeCliError(error)) throw new Error(`Not refused: ${String(error)}`, {cause: error});
  return error;
}

describe.each(['legacy', 'api'])('a check with %s', (preference) => {
  test('looks at a path below the URL of the target once the deployment has finished', async () => {
    const service = await startService();
    const url = `${service.runtime.siteUrl('shop', 'staging')}static/index.html`;
    const {status, check} = await push(service, {preference, check: {...home, text: '<h1>hello'}});
    expect(status).toBe('finished');
    expect(check).toEqual({passed: true, checks: [{url, passed: true, attempts: 1, status: 200}]});
    const paths = service.runtime.requests.filter(({route}) => route === 'site').map(({path}) => path);
    expect(paths).toEqual(['/static/index.html']);
  });

  test('that does not pass is an error of its own, which says how to roll back if something else ran before', async () => {
    const service = await startService();
    service.runtime.addFault(broken);
    const error = await failureOf(push(service, {preference, check: {...home, retries: 2, interval: 0}}));
    const url = `${service.runtime.siteUrl('shop', 'staging')}static/index.html`;
    expect(error).toMatchObject({
      code: 'ERR_UNHEALTHY',
      exitCode: 11,
      details: {
        ...{backend: preference, bundleId: 1, status: 'finished', url: service.runtime.siteUrl('shop', 'staging')},
        check: {passed: false, checks: [{url, passed: false, attempts: 3, status: 503}]},
      },
    });
    expect(error.message).toMatch(
      `Bundle 1 was deployed to staging, but the check of ${url} failed 3 times: it returned 503 Service Unavailable`,
    );
    expect(error.suggestions).toEqual([]);
    const deployed = await startDeployed();
    deployed.runtime.addFault(broken);
    const {suggestions} = await failureOf(push(deployed, {preference, check: home}));
    expect(suggestions.join()).toContain('mycli bundle:rollback --project shop --target staging');
  });

  test('rolls back to what ran before if that was asked for', async () => {
    const service = await startDeployed();
    service.runtime.addFault(broken);
    const error = await failureOf(push(service, {preference, check: home, rollbackOnFailure: true}));
    expect(error).toMatchObject({
      code: 'ERR_ROLLED_BACK',
      exitCode: 12,
      message: expect.stringMatching(
        /failed: .*503.*\. The target staging was rolled back and runs bundle 1 again\.$/,
      ) as string,
      details: {
        ...{bundleId: 2, check: {passed: false}, failure: {code: 'ERR_UNHEALTHY'}},
        rollback: {rolledBack: true, bundleId: 1},
      },
      cause: {code: 'ERR_UNHEALTHY'},
    });
    expect(await history(service)).toEqual(['1 finished', '2 finished', '1 finished']);
  });
});

test('several checks are made in turn, and the first that does not pass is the last', async () => {
  const service = await startService();
  const check = [home, {...home, text: 'absent'}, {...home, url: '/other'}];
  const error = await failureOf(push(service, {check}));
  expect(error.details).toMatchObject({
    check: {checks: [{passed: true}, {passed: false, reason: 'its body does not contain "absent"'}]},
  });
});

test('a check is repeated until it passes', async () => {
  const service = await startService();
  service.runtime.addFault('503x2:route=site');
  const {check} = await push(service, {check: {...home, retries: 5, interval: 0}});
  expect(check?.checks).toMatchObject([{passed: true, attempts: 3}]);
});

test('a promotion, a deployment and a rollback are checked like a push', async () => {
  const service = await startService();
  const {connection, project} = service;
  await service.push({targetSlug: 'staging'});
  const options = {...connection, ...staging, check: home};
  const passed = {check: {passed: true}};
  expect(await promoteBundle({...options, from: 'staging', targetSlug: 'live'}, project.host)).toMatchObject(passed);
  await service.push();
  expect(await deployBundle({...options, bundleId: 2}, project.host)).toMatchObject(passed);
  expect(await rollbackBundle(options, project.host)).toMatchObject({...passed, bundleId: 1});
  service.runtime.addFault(broken);
  const promotion = promoteBundle(
    {...options, from: 'staging', targetSlug: 'live', rollbackOnFailure: true},
    project.host,
  );
  expect(await failureOf(promotion)).toMatchObject({
    code: 'ERR_NOT_ROLLED_BACK',
    details: {rollback: {reason: 'live ran the same bundle before'}},
  });
  expect(await failureOf(rollbackBundle({...options, to: 2}, project.host))).toMatchObject({code: 'ERR_UNHEALTHY'});
  const deployment = deployBundle({...options, bundleId: 1, rollbackOnFailure: true}, project.host);
  expect(await failureOf(deployment)).toMatchObject({
    code: 'ERR_ROLLED_BACK',
    details: {rollback: {bundleId: 2}},
  });
});

describe('before anything is sent', () => {
  const refused = async (options: Options) => {
    const service = await startService();
    const error = await failureOf(push(service, options));
    expect(service.runtime.requests).toEqual([]);
    return error;
  };

  test.each<[Options, string]>([
    [{check: {url: 'health'}}, 'check.url must be an http or https URL, or a path that begins with /'],
    [{check: {url: '//other.example/'}}, 'check.url must be an http or https URL'],
    [{check: {url: '/', text: ''}}, 'check.text must not be empty'],
    [{check: {url: '/', retries: 0.5}}, 'check.retries must be an integer from 0 to 1000'],
    [{check: {url: '/', timeout: 0}}, 'check.timeout must be a number of seconds above 0'],
    [{check: {url: '/', ...{retires: 3}}}, 'check has an unknown key: retires (did you mean retries?)'],
    [{check: home, wait: false}, 'check waits for the deployment, but wait is false'],
    [{rollbackOnFailure: true, wait: false}, 'rollbackOnFailure waits for the deployment, but wait is false'],
    [{check: home, targetSlug: undefined}, 'check requires targetSlug'],
    [{rollbackOnFailure: true, targetSlug: undefined}, 'rollbackOnFailure requires targetSlug'],
  ])('%j is refused', async (options, message) => {
    const error = await refused(options);
    expect(error).toMatchObject({code: 'ERR_OPTION_INVALID', exitCode: 3});
    expect(error.message).toContain(message);
  });

  test('a backend without a history cannot roll back', async () => {
    const service = await startService();
    const {listDeployments: _, ...backend} = createBackendRegistry().get('legacy');
    const backends = createBackendRegistry([{plugin: 'x', backend: {...backend, name: 'plain'}}]);
    const error = await failureOf(push(service, {backends, preference: 'plain', rollbackOnFailure: true}));
    expect(error.code).toBe('ERR_CAPABILITY_UNSUPPORTED');
  });
});

describe('a rollback on failure', () => {
  const failing = {check: home, rollbackOnFailure: true};

  /** Pushes to staging, whose site is broken from then on. Lets something happen before the check. */
  const pushBroken = async (
    service: Service,
    between: () => Promise<unknown> = async () => undefined,
    options: Options = {},
  ) => {
    const host: Host = {
      ...service.project.host,
      beforeWrite: async ({operation}) => {
        if (operation === 'rollback') await between();
      },
    };
    service.runtime.addFault(broken);
    return failureOf(push(service, {...failing, ...options}, host));
  };

  test('says that nothing ran before', async () => {
    const service = await startService();
    expect(await pushBroken(service)).toMatchObject({
      ...{code: 'ERR_NOT_ROLLED_BACK', exitCode: 14},
      message: expect.stringMatching(/It was not rolled back: nothing ran on staging before\.$/) as string,
      details: {rollback: {rolledBack: false, reason: 'nothing ran on staging before'}},
    });
    expect(await history(service)).toEqual(['1 finished']);
  });

  test('does not undo another deployment that came between', async () => {
    const service = await startDeployed();
    const error = await pushBroken(service, () => service.push({targetSlug: 'staging'}));
    expect(error).toMatchObject({
      code: 'ERR_NOT_ROLLED_BACK',
      details: {
        bundleId: 2,
        rollback: {
          bundleId: 1,
          reason: expect.stringMatching(/^another deployment of bundle 3 .*came after it$/) as string,
        },
      },
    });
    expect(error.suggestions.join()).toContain('mycli bundle:history --project shop --target staging');
    expect(error.suggestions.join()).not.toContain('bundle:deploy');
    expect(await history(service)).toEqual(['3 finished', '2 finished', '1 finished']);
  });

  test('leaves a target alone that was made again meanwhile, although it got the same bundle', async () => {
    const service = await startDeployed();
    const {connection, project} = service;
    const place = {...connection, ...staging};
    const remake = async () => {
      await deleteTarget(place, project.host);
      const targets = () => listTargets(place, project.host);
      await expect.poll(targets).toMatchObject({targets: []});
      await deployBundle({...place, bundleId: 2}, project.host);
    };
    expect(await pushBroken(service, remake)).toMatchObject({
      code: 'ERR_NOT_ROLLED_BACK',
      details: {rollback: {bundleId: 1, reason: 'the target was deleted, and made again, meanwhile'}},
    });
    expect(await history(service)).toEqual(['2 finished']);
  });

  test('says that the bundle it goes back to failed its check, too', async () => {
    const service = await startDeployed();
    service.runtime.addFault(broken);
    const failed = {bundleId: 1, failedAt: new Date().toISOString()};
    const checkRecords = {read: async () => [failed], add: async () => undefined};
    const error = await failureOf(push(service, failing, {...service.project.host, checkRecords}));
    expect(error).toMatchObject({
      code: 'ERR_ROLLED_BACK',
      message: expect.stringMatching(/ runs bundle 1 again, which also failed its check\.$/) as string,
    });
  });

  test('looks again who has deployed before its request is repeated', async () => {
    const service = await startDeployed();
    const registry = createBackendRegistry();
    const legacy = registry.get('legacy');
    const createdAt = '2100-01-01T00:00:00Z';
    const deployment = {deployment: {targetSlug: 'staging'}, bundleId: 3, status: 'finished', createdAt} as const;
    let others: readonly DeploymentItem[] = [];
    const listDeployments: typeof legacy.listDeployments = async (...asked) => {
      const page = await legacy.listDeployments?.(...asked);
      return {...page, items: [...others, ...(page?.items ?? [])]};
    };
    const backends = {...registry, get: () => ({...legacy, listDeployments})};
    const onEvent = (event: RuntimeEvent) => {
      if (event.type === 'wait' && event.reason === 'rate-limit') others = [deployment];
    };
    const limit = async () => service.runtime.addFault('429x1:route=deploy');
    expect(await pushBroken(service, limit, {backends, onEvent})).toMatchObject({
      code: 'ERR_NOT_ROLLED_BACK',
      details: {rollback: {reason: 'another deployment of bundle 3 came after it'}},
    });
  });

  test('does not wait for a deployment that occupies the target', async () => {
    const service = await startDeployed();
    const busy = async () => service.runtime.addFault('409x1:route=deploy');
    const error = await pushBroken(service, busy);
    expect(error).toMatchObject({code: 'ERR_NOT_ROLLED_BACK', cause: {code: 'ERR_TARGET_BUSY'}});
  });

  test('tells that the deployment that rolls back failed', async () => {
    const service = await startDeployed();
    const error = await pushBroken(service, async () => service.runtime.addFault('failx1'));
    expect(error).toMatchObject({
      ...{code: 'ERR_NOT_ROLLED_BACK', cause: {code: 'ERR_DEPLOYMENT_FAILED'}},
      details: {failure: {code: 'ERR_UNHEALTHY'}, rollback: {rolledBack: false, bundleId: 1}},
    });
  });

  test('deploys nothing if it cannot read what runs', async () => {
    const service = await startDeployed();
    service.runtime.addFault('403:route=history');
    const error = await failureOf(push(service, {...failing, preference: 'api'}));
    expect(error.code).toBe('ERR_FORBIDDEN');
    expect(error.message).toContain('What staging runs cannot be read, so a deployment could not be rolled back');
    service.runtime.clearFaults();
    expect(await history(service)).toEqual(['1 finished']);
  });

  test('leaves a deployment alone that may still finish', async () => {
    const service = await startService({deploymentSeconds: 3600});
    const error = await failureOf(push(service, {...failing, timeout: 0.05}));
    expect(error).toMatchObject({code: 'ERR_WAIT_TIMEOUT', exitCode: 9});
    expect(error.message).toContain('The deployment was not rolled back, because it may still finish.');
  });

  test('works for an upload that deploys at once', async () => {
    const service = await startDeployed();
    service.runtime.addFault(broken);
    const error = await failureOf(push(service, {...failing, v2: false}));
    expect(error).toMatchObject({code: 'ERR_ROLLED_BACK', details: {bundleId: 2, rollback: {bundleId: 1}}});
  });

  test('can be vetoed', async () => {
    const service = await startDeployed();
    const veto = createError('ERR_VETOED', 'A freeze. Nothing was changed.');
    const error = await pushBroken(service, () => Promise.reject(veto));
    expect(error).toMatchObject({code: 'ERR_NOT_ROLLED_BACK', cause: {code: 'ERR_VETOED'}});
    expect(await history(service)).toEqual(['2 finished', '1 finished']);
  });

  test.each([
    ['the check', '/static/index.html', /Bundle 2 is deployed to staging, but has not .* It was not rolled back\.$/],
    ['it is requested', '/deploy/', /Bundle 2 was deployed .* Its rollback to bundle 1 may have started\.$/],
  ])('a rollback that is interrupted while %s is made says what state it is in', async (_, path, state) => {
    const service = await startDeployed();
    service.runtime.addFault(broken);
    const controller = new AbortController();
    const reason = createError('ERR_INTERRUPTED', 'Interrupted by SIGINT.', {exitCode: 140});
    let left = path === '/deploy/' ? 2 : 1;
    const debug = (line: string) => {
      const isCounted = path === '/deploy/' ? /^POST \S+\/deploy\/? to /.test(line) : line.includes(path);
      if (isCounted && (left -= 1) === 0) controller.abort(reason);
    };
    const {host} = service.project;
    const watched: Host = {...host, logger: {...host.logger, debug}};
    const error = await failureOf(push(service, {...failing, signal: controller.signal}, watched));
    expect(error).toMatchObject({code: 'ERR_INTERRUPTED', exitCode: 140});
    expect(error.message).toMatch(/^Interrupted by SIGINT\. /);
    expect(error.message).toMatch(state);
  });
});
