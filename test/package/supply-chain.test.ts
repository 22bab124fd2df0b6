import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readdir, readFile} from 'node:fs/promises';
import path from 'node:path';
import {text} from 'node:stream/consumers';
import {describe, expect, test} from 'vitest';
import {root} from './install.js';

/** A package in a lock file of version 3, as far as it is looked at. */
interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly inBundle?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

async function lockedPackages(file: string): Promise<Readonly<Record<string, LockedPackage>>> {
  const lock = JSON.parse(await readFile(path.join(root, file), 'utf8')) as {
    readonly lockfileVersion: number;
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  expect(lock.lockfileVersion).toBe(3);
  return lock.packages;
}

/** A range of versions, perhaps of a package under another name. No address, no path, no repository. */
const fromRegistry = /^(?:npm:(?:@[^/@:]+\/)?[^/@:]+@)?[\d.x*<>=~^| -]+(?:-[\w.]+)?$/;

test.each(['package-lock.json', ...['mcp', 's3'].map((name) => `examples/mycli-plugin-${name}/package-lock.json`)])(
  '%s names each package with its hash, and nothing from outside the registry',
  async (file) => {
    const packages = await lockedPackages(file);
    expect(Object.keys(packages).length).toBeGreaterThan(10);
    for (const [place, entry] of Object.entries(packages)) {
      const {dependencies, devDependencies, optionalDependencies, resolved = 'https://registry.npmjs.org/'} = entry;
      const wanted = Object.entries({...dependencies, ...devDependencies, ...optionalDependencies});
      expect([place, wanted.filter(([, range]) => !fromRegistry.test(range))]).toEqual([place, []]);
      // What is in a bundle comes with the package around it, and is covered by its hash.
      if (place === '' || entry.inBundle) continue;
      expect([place, entry.link]).toEqual([place, undefined]);
      expect(resolved).toMatch(/^https:\/\/registry\.npmjs\.org\//);
      expect([place, entry.integrity]).toEqual([place, expect.stringMatching(/^sha512-[A-Za-z0-9+/]{86}==$/)]);
    }
  },
);

describe('what the release workflow checks of npm audit and npm sbom', () => {
  const advisory = {severity: 'high', title: 'Prototype pollution', url: 'https://advisories.example/1'};
  const found = (path: string, ...via: readonly unknown[]) => ({[path]: {nodes: [`node_modules/${path}`], via}});

  async function shipped(task: 'audit' | 'sbom', report: unknown): Promise<{code: number; stdout: string}> {
    const child = spawn(process.execPath, ['scripts/shipped.js', task], {cwd: root, stdio: ['pipe', 'pipe', 'ignore']});
    child.stdin.end(JSON.stringify(report));
    const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'exit') as Promise<[number]>]);
    return {code, stdout};
  }

  test('is what npm installs and what dist contains, and none of our tools', async () => {
    const vulnerabilities = {
      ...found('got', advisory),
      ...found('valibot', advisory),
      ...found('vitest', advisory),
      ...found('yarn', advisory),
      ...found('@oclif/plugin-plugins', 'yarn'),
    };
    const {code, stdout} = await shipped('audit', {vulnerabilities});
    expect(code).toBe(1);
    expect(stdout.split('\n').map((line) => line.replace(/@\d.*/, ''))).toEqual(['got', 'valibot', '']);
  });

  test('passes when only our tools have findings, and fails without a report', async () => {
    expect(await shipped('audit', {vulnerabilities: found('vitest', advisory)})).toMatchObject({code: 0});
    expect(await shipped('audit', {message: '405 Method Not Allowed'})).toMatchObject({code: 1, stdout: ''});
  });

  test('lists them in the SBOM', async () => {
    const packages = await lockedPackages('package-lock.json');
    const ref = (name: string) => `${name}@${packages[`node_modules/${name}`]?.version ?? ''}`;
    const refs = ['got', 'valibot', 'vitest'].map(ref);
    const {stdout} = await shipped('sbom', {
      bomFormat: 'CycloneDX',
      metadata: {component: {'bom-ref': 'mycli@0.1.0'}},
      components: refs.map((bomRef) => ({'bom-ref': bomRef})),
      dependencies: [
        {ref: 'mycli@0.1.0', dependsOn: refs},
        {ref: ref('vitest'), dependsOn: [ref('valibot')]},
      ],
    });
    expect(JSON.parse(stdout)).toEqual({
      bomFormat: 'CycloneDX',
      metadata: {component: {'bom-ref': 'mycli@0.1.0'}},
      components: [{'bom-ref': ref('got')}, {'bom-ref': ref('valibot')}],
      dependencies: [{ref: 'mycli@0.1.0', dependsOn: [ref('got'), ref('valibot')]}],
    });
  });
});

test('every action that a workflow uses is pinned to a commit', async () => {
  const folder = path.join(root, '.github/workflows');
  const files = [path.join(root, 'action.yml'), ...(await readdir(folder)).map((name) => path.join(folder, name))];
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  const used = texts.flatMap((text) =>
    [...text.matchAll(/^\s*(?:- )?uses: *(.+)$/gm)].map(([, action = '']) => action),
  );
  expect(used).not.toEqual([]);
  for (const action of used) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});
