import {describe, expect, test} from 'vitest';
import {shownUrl} from '../../src/backends/answers.js';
import {ApiKeyStrategy} from '../../src/http/index.js';
import {startRecordingServer, type Reply} from '../recording-server.js';
import {acme} from './acme.js';
import {startService} from './pushed-bundles.js';
import {createProject} from './test-host.js';
import * as served from '../../src/pipelines/deploy.js';
import {withNextSteps} from '../../src/pipelines/next-steps.js';
import {listDeployments, findTarget, getProjectStatus} from '../../src/pipelines/read.js';
import {listTargets} from '../../src/pipelines/targets.js';
import {deployBundle} from './calls.js';

describe('the status of a project', () => {
  test('tells for each target what runs, what is under way, and where', async () => {
    let now = new Date('2026-01-01T00:00:00Z');
    const {connection, project, runtime, push} = await startService({deploymentSeconds: 60, now: () => now});
    const deploy = (bundleId: number, targetSlug: string) =>
      deployBundle({...connection, preference: 'legacy', bundleId, targetSlug}, project.host);
    const [first, second] = [await push(), await push()];
    await deploy(first, 'staging');
    await deploy(first, 'production');
    now = new Date('2026-01-01T01:00:00Z');
    await deploy(second, 'staging');
    const status = await getProjectStatus({...connection, preference: 'legacy'}, project.host);
    expect(status).toMatchObject({
      backend: 'legacy',
      projectSlug: 'shop',
      targets: [
        {targetSlug: 'production', live: {bundleId: first}, underway: undefined},
        {
          targetSlug: 'staging',
          url: runtime.siteUrl('shop', 'staging'),
          live: {bundleId: first, status: 'finished', createdBy: 'api-key', createdAt: '2026-01-01T00:00:00.000Z'},
          underway: {bundleId: second, status: 'queued'},
          failed: undefined,
        },
      ],
    });
    const one = await getProjectStatus({...connection, preference: 'legacy', targetSlug: 'production'}, project.host);
    expect(one.targets).toEqual([status.targets[0]]);
  });

  test('needs a target where the service cannot list them', async () => {
    const {connection, project, runtime} = await startService();
    runtime.addFault('404:route=targets');
    const all = {...connection, preference: 'api'} as const;
    await expect(getProjectStatus(all, project.host)).rejects.toMatchObject({
      code: 'ERR_CAPABILITY_UNSUPPORTED',
      message: 'The Runtime (OAuth) backend cannot list targets.',
      suggestions: ['Pass --target SLUG to look at one, or set targetSlug in mycli.config.'],
      details: {capability: 'targets'},
    });
    const {targets} = await getProjectStatus({...all, targetSlug: 'staging', allTargets: true}, project.host);
    expect(targets).toMatchObject([{targetSlug: 'staging', live: undefined}]);
  });
});

describe('a target that the list of the backend does not have', () => {
  test('is an error that names the nearest one', async () => {
    const {connection, project, push} = await startService();
    await push({targetSlug: 'production'});
    const look = (targetSlug: string) =>
      getProjectStatus({...connection, preference: 'legacy', targetSlug}, project.host);
    await expect(look('prodution')).rejects.toMatchObject({
      code: 'ERR_REJECTED',
      message: 'The project "shop" has no target "prodution".',
      suggestions: ['Did you mean production?', 'Its targets: production'],
      details: {targetSlug: 'prodution', targets: ['production']},
    });
    const open = findTarget({...connection, preference: 'legacy', targetSlug: 'zzz'}, project.host);
    await expect(open).rejects.toMatchObject({suggestions: ['Its targets: production']});
  });

  test('may be in a project that does not exist: servers answer alike for an empty one', async () => {
    const {connection, project} = await startService();
    const look = getProjectStatus({...connection, preference: 'legacy', targetSlug: 'staging'}, project.host);
    await expect(look).rejects.toMatchObject({
      code: 'ERR_REJECTED',
      message: 'The project "shop" has no targets, or does not exist.',
      suggestions: [
        'Check the name of the project. Its first deployment may create the target:',
        'mycli bundle:push --project shop --target staging',
      ],
    });
  });
});

/** Deploys to a legacy server whose targets are `rows` (none: it never answers), and looks for the URL. */
async function deployAndLook(rows: Reply | undefined) {
  await using server = await startRecordingServer(({method, path}) => {
    if (method === 'POST') return {status: 204};
    if (path.includes('/deploy/')) return {status: 200, body: {count: 0, results: []}};
    return rows ?? new Promise(() => undefined);
  });
  await using project = await createProject();
  const connection = {origin: server.origin, legacyAuth: new ApiKeyStrategy({apiKey: 'key'})};
  const options = {...connection, preference: 'legacy', bundleId: 1, projectSlug: 'shop', targetSlug: 'live'};
  const deploy = () => served.deployBundle(options, project.host);
  const {result} = await withNextSteps(deploy, served.deployResult, {history: true});
  expect(server.requests.map(({method}) => method)).toEqual(['POST', 'GET']);
  return result;
}

describe('the URL of a deployment', () => {
  test.each([
    [{ssr_external_hostname: 'www.shop.example', cdn_domain_name: 'cdn.example'}, 'https://www.shop.example/'],
    [{ssr_external_hostname: '', cdn_domain_name: 'cdn.example'}, 'https://cdn.example/'],
    [{ssr_external_hostname: null}, undefined],
    [{ssr_external_hostname: 'evil.example\u001B[2J'}, undefined],
    [{url: 'javascript:alert(1)', cdn_domain_name: 'cdn.example'}, undefined],
  ])('comes from the host names of the target: %j', async (row, url) => {
    const results = [
      {slug: 'other', ssr_external_hostname: 'no.example'},
      {slug: 'live', ...row},
    ];
    expect((await deployAndLook({status: 200, body: {count: 2, results}})).url).toBe(url);
  });

  test.each([
    {status: 404},
    {status: 429, headers: {'retry-after': '9999'}},
    {status: 200, body: 'no JSON'},
    undefined,
  ])('is unknown when the server does not tell at once, which is no failure: %j', async (reply) => {
    expect(await deployAndLook(reply)).toMatchObject({status: 'queued', url: undefined});
  });
});

describe("a plugin's backend", () => {
  const failed = {status: 'failed', description: 'No space', logUrl: 'https://log.example'};
  const members = {
    deploy: () => Promise.resolve({deployment: {id: 1}, status: 'queued', url: 'https://queued.example', raw: {}}),
    getDeployment: () => Promise.resolve({status: 'finished', url: 'https://live.example', raw: {}}),
    listDeployments: () => Promise.resolve({items: [{deployment: {id: 2}, bundleId: 'b-2', ...failed}], raw: {}}),
    listTargets: () => Promise.resolve({items: [{targetSlug: 'live', url: 'https://listed.example'}], raw: {}}),
  };

  const optionsFor = (changes: object) => ({...acme({...members, ...changes}), targetSlug: 'live'});

  test.each([
    ['of the deployment when it was waited for', {}, true, 'https://live.example/'],
    ['of the request otherwise', {}, false, 'https://queued.example/'],
    [
      'of its list',
      {deploy: () => Promise.resolve({deployment: {}, status: 'queued', raw: {}})},
      false,
      'https://listed.example/',
    ],
  ])('gives the URL %s', async (_, changes, wait, url) => {
    await using project = await createProject();
    const options = {...optionsFor(changes), bundleId: 'b-1', wait, pollInterval: 0.01};
    const deploy = () => served.deployBundle(options, project.host);
    const {result} = await withNextSteps(deploy, served.deployResult, {history: true});
    expect(result).toMatchObject({url});
  });

  test('writes the URL of a target and of what it runs alike, and leaves out what is no URL', async () => {
    await using project = await createProject();
    const deployed = {deployment: {}, bundleId: 'b-1', status: 'finished'};
    const items = [
      {...deployed, url: 'HTTPS://Live.Example'},
      {...deployed, url: 'javascript:alert(1)'},
    ];
    const changes = {
      listTargets: () => Promise.resolve({items: [{targetSlug: 'live', url: 'https://LIVE.example'}], raw: {}}),
      listDeployments: () => Promise.resolve({items, raw: {}}),
    };
    const [url, options] = ['https://live.example/', optionsFor(changes)];
    expect((await getProjectStatus(options, project.host)).targets).toMatchObject([{url, live: {url}}]);
    expect((await listTargets(options, project.host)).targets).toMatchObject([{url}]);
    const {deployments} = await listDeployments({...options, limit: 2, offset: 0}, project.host);
    expect(deployments.map((item) => item.url)).toEqual([url, undefined]);
  });

  test('tells why a deployment failed, with its log', async () => {
    await using project = await createProject();
    const {targets} = await getProjectStatus(optionsFor({}), project.host);
    expect(targets).toMatchObject([
      {
        url: 'https://listed.example/',
        live: undefined,
        failed: {description: 'No space', logUrl: 'https://log.example/'},
      },
    ]);
    const getDeployment = () => Promise.resolve({...failed, logUrl: 'https://log.example/1', raw: {}});
    const failing = {...optionsFor({getDeployment}), bundleId: 'b-1', wait: true};
    await expect(deployBundle(failing, project.host)).rejects.toMatchObject({
      code: 'ERR_DEPLOYMENT_FAILED',
      message: 'The deployment failed: No space.',
      suggestions: ['Log: https://log.example/1'],
      details: {logUrl: 'https://log.example/1'},
    });
  });
});

test.each([
  ['https://shop.example/a?b=c#d', 'https://shop.example/a?b=c#d'],
  ['HTTP://shop.example', 'http://shop.example/'],
  ['https://user:pass@shop.example/', undefined],
  ['https://shop.example/\n', undefined],
  ['https://shop.example/\u202Egnp', undefined],
  ['file:///etc/passwd', undefined],
  ['--version', undefined],
  [`https://shop.example/${'a'.repeat(3000)}`, undefined],
  [42, undefined],
])('a URL of somebody else is shown as http(s) or not at all: %j', (value, shown) => {
  expect(shownUrl(value)).toBe(shown);
});

test('a history marks the deployment that is live, on whichever page it is', async () => {
  const {connection, project, push} = await startService();
  for (let pushes = 0; pushes < 3; pushes += 1) await push({targetSlug: 'staging'});
  const page = async (offset: number, limit: number) => {
    const range = {targetSlug: 'staging', offset, limit};
    const {deployments} = await listDeployments({...connection, preference: 'legacy', ...range}, project.host);
    return deployments.map(({bundleId, live}) => [bundleId, live]);
  };
  expect(await page(0, 2)).toEqual([
    [3, true],
    [2, false],
  ]);
  expect(await page(1, 2)).toEqual([
    [2, false],
    [1, false],
  ]);
});
