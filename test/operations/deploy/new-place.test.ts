import {describe, expect, test} from 'vitest';
import type {NewPlace} from '../../../src/operations/options.js';
import {deployPreview} from '../../../src/pipelines/previews.js';
import {createTarget} from '../../../src/pipelines/targets.js';
import {acme} from '../acme.js';
import {deployBundle, promoteBundle, pushRuntimeBundle} from '../calls.js';
import {stepHost} from '../../pipelines/step-host.js';
import {startService, type Service} from '../pushed-bundles.js';

/** A project that has the target `production`, and what its deployments asked about. */
async function startShop(preference: 'api' | 'legacy' = 'legacy') {
  const service = await startService();
  await service.push({targetSlug: 'production'});
  const asked: NewPlace[] = [];
  const confirmNew = (found: NewPlace) => {
    asked.push(found);
    return Promise.resolve();
  };
  const options = {...service.connection, preference, v2: true};
  return {...service, asked, options: {...options, confirmNew}, silent: options, writes: writesOf(service)};
}

/** The requests that change something, from now on. */
function writesOf({runtime}: Service) {
  const from = runtime.requests.length;
  return () => runtime.requests.slice(from).filter(({method, path}) => method === 'POST' && !path.includes('oauth2'));
}

const typo = {kind: 'target', slug: 'prodction', meant: ['production']};

describe('a new target', () => {
  test.each(['legacy', 'api'] as const)('is asked about before anything is sent (%s)', async (preference) => {
    const {options, project, asked, writes} = await startShop(preference);
    const refused = () => Promise.reject(new Error('No.'));
    const push = {...options, targetSlug: 'prodction'};
    await expect(pushRuntimeBundle({...push, confirmNew: refused}, project.host)).rejects.toThrow('No.');
    const deploy = deployBundle({...push, bundleId: 1, confirmNew: refused}, project.host);
    await expect(deploy).rejects.toThrow('No.');
    const promotion = promoteBundle({...push, from: 'production', confirmNew: refused}, project.host);
    await expect(promotion).rejects.toThrow('No.');
    expect(writes()).toEqual([]);
    expect(await pushRuntimeBundle(push, project.host)).toMatchObject({deployed: true});
    expect(asked).toEqual([typo]);
  });

  test.each(['legacy', 'api'] as const)(
    'is looked for again when the service limits requests (%s)',
    async (preference) => {
      const {options, project, asked, runtime} = await startShop(preference);
      runtime.addFault('429x2:route=targets');
      await pushRuntimeBundle({...options, targetSlug: 'prodction'}, project.host);
      expect(asked).toEqual([typo]);
    },
  );

  test('that cannot be looked for is deployed to, which is told', async () => {
    const {options, project, asked, runtime} = await startShop();
    runtime.addFault('404x1:route=targets');
    const lines: string[] = [];
    const {terminal} = stepHost({info: (line) => void lines.push(line)}).host;
    const result = await pushRuntimeBundle({...options, targetSlug: 'prodction'}, {...project.host, terminal});
    expect(result).toMatchObject({deployed: true});
    expect(asked).toEqual([]);
    expect(lines.join('\n')).toContain('Could not check whether the target prodction exists.');
  });

  test('may be mistaken for the name of one whose slug the service made', async () => {
    const {options, silent, project, asked} = await startShop('api');
    const {targetSlug} = await createTarget({...silent, targetSlug: 'qa', pollInterval: 0.1}, project.host);
    await pushRuntimeBundle({...options, targetSlug: 'qa'}, project.host);
    expect(asked).toEqual([{kind: 'target', slug: 'qa', meant: [targetSlug]}]);
  });

  test('is not looked for if nobody is asked, or it is wanted', async () => {
    const {silent, options, project, asked, runtime} = await startShop();
    await pushRuntimeBundle({...silent, targetSlug: 'prodction'}, project.host);
    await pushRuntimeBundle({...options, targetSlug: 'prodction-2', create: true}, project.host);
    expect(asked).toEqual([]);
    expect(runtime.requests.filter(({method, path}) => method === 'GET' && path.endsWith('/target/'))).toEqual([]);
  });

  test('is refused with create: false and by MYCLI_SAFETY=no-create', async () => {
    const {silent, project, writes} = await startShop();
    const push = {...silent, targetSlug: 'prodction'};
    await expect(pushRuntimeBundle({...push, create: false}, project.host)).rejects.toMatchObject({
      message: 'The project "shop" has no target "prodction".',
      suggestions: [
        'Did you mean production?',
        'Its targets: production',
        'None is created because of --no-create (create: false, MYCLI_CREATE=false).',
      ],
    });
    const host = {...project.host, env: {MYCLI_SAFETY: 'no-create'}};
    await expect(deployBundle({...push, bundleId: 1}, host)).rejects.toMatchObject({
      code: 'ERR_SAFETY',
      message: 'MYCLI_SAFETY=no-create blocks creating the target "prodction". Nothing was changed.',
      suggestions: ['Did you mean production?', expect.stringContaining('Change MYCLI_SAFETY') as string],
    });
    await expect(pushRuntimeBundle({...push, create: true}, host)).rejects.toMatchObject({code: 'ERR_SAFETY'});
    expect(writes()).toEqual([]);
    await pushRuntimeBundle({...push, targetSlug: 'production', create: false}, host);
  });

  test('is refused with create: false if nobody knows whether it is new', async () => {
    const {project} = await startService();
    await expect(deployBundle({...acme({}), bundleId: 'b', create: false}, project.host)).rejects.toMatchObject({
      code: 'ERR_CAPABILITY_UNSUPPORTED',
    });
    const listTargets = () => Promise.reject(new Error('The list is broken.'));
    const unasked = {...acme({listTargets}), confirmNew: () => Promise.reject(new Error('asked')), bundleId: 'b'};
    expect(await deployBundle(unasked, project.host)).toMatchObject({status: 'queued'});
  });

  test.each([
    ['stagnig', ['staging']],
    ['prod', ['production', 'prodction']],
    ['prodctio', ['prodction', 'production']],
    ['qb', []],
    ['preview-x', []],
  ])('called %s may be meant to be %j', async (slug, meant) => {
    const items = ['production', 'staging', 'prodction', 'qa'].map((targetSlug) => ({targetSlug}));
    const asked: NewPlace[] = [];
    const confirmNew = (found: NewPlace) => Promise.resolve(void asked.push(found));
    const plugin = {...acme({listTargets: () => Promise.resolve({items})}), confirmNew, bundleId: 'b'};
    const {project} = await startService();
    await deployBundle({...plugin, targetSlug: slug}, project.host);
    await deployBundle({...plugin, targetSlug: 'qa'}, project.host);
    expect(asked).toEqual([{kind: 'target', slug, meant}]);
  });

  test('of a project that nobody has is the project', async () => {
    const {options, project, asked} = await startShop();
    await pushRuntimeBundle({...options, projectSlug: 'shopp', targetSlug: 'production'}, project.host);
    expect(asked).toEqual([{kind: 'project', slug: 'shopp', meant: ['shop']}]);
  });
});

describe('a new project', () => {
  const typo = {kind: 'project', slug: 'shopp', meant: ['shop']};

  test.each(['legacy', 'api'] as const)(
    'is asked about before a target or a preview makes it (%s)',
    async (preference) => {
      const {options, project, asked, writes} = await startShop(preference);
      const place = {...options, projectSlug: 'shopp', pollInterval: 0.1};
      const refusing = {...place, confirmNew: () => Promise.reject(new Error('No.'))};
      await expect(createTarget({...refusing, targetSlug: 'qa'}, project.host)).rejects.toThrow('No.');
      await expect(deployPreview({...refusing, branch: 'b'}, project.host)).rejects.toThrow('No.');
      const forbidden = {...place, create: false, targetSlug: 'qa'};
      await expect(createTarget(forbidden, project.host)).rejects.toMatchObject({details: {projects: ['shop']}});
      expect(writes()).toEqual([]);
      await deployPreview({...place, branch: 'b'}, project.host);
      await createTarget({...place, targetSlug: 'qa'}, project.host);
      expect(asked).toEqual([typo]);
    },
  );

  test.each(['legacy', 'api'] as const)('is asked about before an upload makes it (%s)', async (preference) => {
    const {options, project, asked, writes} = await startShop(preference);
    const upload = {...options, projectSlug: 'shopp'};
    const refused = () => Promise.reject(new Error('No.'));
    await expect(pushRuntimeBundle({...upload, confirmNew: refused}, project.host)).rejects.toThrow('No.');
    expect(writes()).toEqual([]);
    await pushRuntimeBundle({...upload, create: true}, project.host);
    expect(asked).toEqual([]);
    await pushRuntimeBundle({...upload, projectSlug: 'shop'}, project.host);
    expect(asked).toEqual([]);
    await pushRuntimeBundle({...upload, projectSlug: 'shppo'}, project.host);
    expect(asked).toEqual([{...typo, slug: 'shppo', meant: ['shopp']}]);
  });

  test('is refused with create: false and by MYCLI_SAFETY=no-create', async () => {
    const {silent, project, writes} = await startShop();
    const upload = {...silent, projectSlug: 'shopp'};
    await expect(pushRuntimeBundle({...upload, create: false}, project.host)).rejects.toMatchObject({
      code: 'ERR_REJECTED',
      message: 'The project "shopp" does not exist.',
      suggestions: [
        'Did you mean the project shop?',
        'The credentials do not reach a project "shopp". They reach: shop.',
        'None is created because of --no-create (create: false, MYCLI_CREATE=false).',
      ],
    });
    const host = {...project.host, env: {MYCLI_SAFETY: 'no-create'}};
    await expect(pushRuntimeBundle({...upload, create: true}, host)).rejects.toMatchObject({
      code: 'ERR_SAFETY',
      message: 'MYCLI_SAFETY=no-create blocks creating the project "shopp". Nothing was changed.',
      suggestions: ['Did you mean shop?', expect.stringContaining('Change MYCLI_SAFETY') as string],
    });
    expect(writes()).toEqual([]);
    await pushRuntimeBundle({...upload, projectSlug: 'shop', create: false}, host);
  });

  test('may be pushed to if nobody knows whether it is new', async () => {
    const {project} = await startService();
    const listProjects = () => Promise.reject(new Error('The list is broken.'));
    for (const plugin of [acme({}), acme({listProjects})]) {
      const {targetSlug: _, ...upload} = {...plugin, create: false};
      expect(await pushRuntimeBundle(upload, project.host)).toMatchObject({deployed: false});
    }
  });
});
