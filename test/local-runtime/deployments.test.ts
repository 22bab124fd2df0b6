import {readdir} from 'node:fs/promises';
import path from 'node:path';
import {describe, expect, test} from 'vitest';
import {build, gnuTar, v2Archive} from './archives.js';
import {v1Body} from './client.js';
import {startRuntime} from './with-runtime.js';

/** A runtime whose clock stands still until it is moved. */
async function startWithClock() {
  let time = Date.parse('2030-01-01T00:00:00Z');
  const started = await startRuntime({now: () => new Date(time), deploymentSeconds: 8});
  return {
    ...started,
    advance: (seconds: number) => {
      time += seconds * 1000;
    },
  };
}

describe('a deployment', () => {
  test('goes from queued to in progress to finished, in the terms of each protocol', async () => {
    const {client, advance} = await startWithClock();
    await client.pushV2(await v2Archive());
    const {json} = await client.api('shop/environments/production/deployments', client.json({bundleId: 1}));
    expect(json).toMatchObject({status: 'queued', progress: null, duration: null});
    const {deploymentId} = json;
    const look = async () => {
      const api = await client.api(`shop/environments/production/deployments/${json.deploymentId}`);
      const legacy = await client.legacy('projects/shop/target/production/deploy/');
      const target = await client.legacy('projects/shop/target/production/');
      return [
        api.json.status,
        api.json.progress?.percentage,
        legacy.json.results[0].status,
        target.json.state,
        target.json.current_deploy.status,
      ];
    };
    expect(await look()).toEqual(['queued', undefined, 'Queued', 'CREATE_IN_PROGRESS', 'Queued']);
    advance(5);
    expect(await look()).toEqual(['in_progress', 50, 'In Progress', 'CREATE_IN_PROGRESS', 'In Progress']);
    const {json: running} = await client.legacy('projects/shop/target/production/deploy/');
    expect(running.results[0].duration).toBe('00:00:05.000000');
    advance(3);
    expect(await look()).toEqual(['finished', 100, 'Finished', 'ACTIVE', 'Finished']);
    const {json: history} = await client.legacy('projects/shop/target/production/deploy/');
    expect(history.results[0]).toMatchObject({
      deploy_type: 'Publish',
      external_publish_id: deploymentId,
      duration: '00:00:08.000000',
      created_at: '2030-01-01T00:00:00.000Z',
      updated_at: '2030-01-01T00:00:08.000Z',
    });
  });

  test('is refused while another to the same target is running, with which one and since when', async () => {
    const {client, advance} = await startWithClock();
    await client.pushV2(await v2Archive());
    expect((await client.deploy(1)).status).toBe(201);
    advance(2);
    const second = await client.deploy(1);
    expect(second.status).toBe(409);
    expect(second.json.detail).toBe('Bundle 1 has been deploying to "production" since 2030-01-01T00:00:00.000Z.');
    const push = await client.pushV1(
      v1Body(await gnuTar(build, {prefix: 'shop/bld', gzip: false})),
      'projects/shop/builds/production/',
    );
    expect(push.status).toBe(409);
    expect((await client.legacy('projects/shop/bundles/')).json.count).toBe(1);
    expect((await client.deploy(1, 'staging')).status).toBe(201);
    expect((await client.legacy('projects/shop/bundles/1/', {method: 'DELETE'})).status).toBe(409);
    advance(6);
    expect((await client.deploy(1)).status).toBe(201);
  });

  test('or the deletion of its bundle succeeds if both are asked for at once, never both', async () => {
    const {client} = await startRuntime();
    const archive = await v2Archive();
    const outcomes = await Promise.all(
      Array.from({length: 6}, async (_, index) => {
        const {json} = await client.pushV2(archive);
        const [deployment, deletion] = await Promise.all([
          client.deploy(json.id, `target-${index}`),
          client.legacy(`projects/shop/bundles/${json.id}/`, {method: 'DELETE'}),
        ]);
        return `${deployment.status} ${deletion.status}`;
      }),
    );
    for (const outcome of outcomes) expect(['201 409', '404 202']).toContain(outcome);
  });

  test('stays live when the clock is set back', async () => {
    const {client, advance} = await startWithClock();
    await client.pushV2(await v2Archive());
    await client.deploy(1);
    advance(10);
    expect((await client.site('shop/production/static/app.js')).status).toBe(200);
    advance(-3600);
    expect((await client.site('shop/production/static/app.js')).status).toBe(200);
    expect((await client.deploy(1)).status).toBe(201);
  });

  test('is served without a gap from the one before', async () => {
    const {client} = await startRuntime();
    await client.pushV2(await v2Archive());
    await client.deploy(1);
    const statuses = new Set<number>();
    let isDeploying = true;
    const asking = [1, 2].map(async () => {
      while (isDeploying) statuses.add((await client.site('shop/production/static/app.js')).status);
    });
    for (let count = 0; count < 3; count += 1) await client.deploy(1);
    isDeploying = false;
    await Promise.all(asking);
    expect([...statuses]).toEqual([200]);
  });

  test('may be of the current bundle', async () => {
    const {client, advance} = await startWithClock();
    await client.pushV2(await v2Archive());
    expect((await client.deploy('current')).status).toBe(400);
    await client.deploy(1);
    advance(8);
    await client.pushV2(await v2Archive());
    expect((await client.deploy('current')).status).toBe(201);
    const {json} = await client.legacy('projects/shop/target/production/');
    expect(json.current_deploy).toMatchObject({status: 'Queued', bundle: {id: 1}});
  });

  test('leaves the target unchanged until it has finished, if it is not the first', async () => {
    const {client, advance} = await startWithClock();
    for (const page of ['old', 'new']) {
      await client.pushV2(await v2Archive({...build, 'static/index.html': page}));
    }
    await client.deploy(1);
    expect((await client.site('shop/production/static/index.html')).status).toBe(404);
    advance(8);
    await client.deploy(2);
    advance(7);
    const {json} = await client.legacy('projects/shop/target/production/');
    expect(json).toMatchObject({
      slug: 'production',
      url: expect.stringMatching(/^http:\/\/production--shop\.localhost:\d+\/$/) as string,
      name: 'production',
      state: 'PUBLISH_IN_PROGRESS',
      deletion_status: 'ACTIVE',
      current_deploy: {status: 'In Progress', bundle: {id: 2, message: 'first'}},
    });
    expect((await client.site('shop/production/static/index.html')).body).toBe('old');
    advance(1);
    expect((await client.site('shop/production/static/index.html')).body).toBe('new');
  });

  test('fails on request, and keeps the previous one running', async () => {
    const {client, runtime, advance} = await startWithClock();
    await client.pushV2(await v2Archive());
    runtime.addFault('failx1:route=deploy');
    const {json} = await client.api('shop/environments/production/deployments', client.json({bundleId: 1}));
    advance(8);
    const failed = await client.api(`shop/environments/production/deployments/${json.deploymentId}`);
    expect(failed.json).toMatchObject({status: 'failed', statusMessage: expect.stringContaining('failed')});
    expect((await client.legacy('projects/shop/target/production/')).json.state).toBe('CREATE_FAILED');
    await client.deploy(1);
    advance(8);
    runtime.addFault('fail');
    await client.deploy(1);
    advance(8);
    expect((await client.legacy('projects/shop/target/production/')).json).toMatchObject({
      state: 'PUBLISH_FAILED',
      current_deploy: {status: 'Failed'},
    });
    expect((await client.site('shop/production/static/index.html')).status).toBe(200);
  });

  test('removes the files of those that no longer serve', async () => {
    const {client, runtime} = await startRuntime();
    await client.pushV2(await v2Archive());
    for (let count = 0; count < 3; count += 1) await client.deploy(1);
    await client.deploy(1, 'staging');
    expect(await readdir(path.join(runtime.dataDirectory, 'sites'))).toHaveLength(2);
    expect((await client.legacy('projects/shop/target/production/deploy/?limit=2')).json).toMatchObject({count: 3});
    expect((await client.site('shop/production/static/app.js')).status).toBe(200);
  });
});
