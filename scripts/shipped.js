// What users get of the packages in the lock file: those that npm installs with mycli, and those that dist contains,
// which npm audit and npm sbom take for tools of ours. The release workflow narrows their reports with it, after the
// build:   npm audit --json | node scripts/shipped.js audit    prints each advisory about them, and fails when there is
// one   npm sbom ... | node scripts/shipped.js sbom         prints the CycloneDX document without our tools
import {readFileSync} from 'node:fs';
import {json} from 'node:stream/consumers';
import {fileURLToPath} from 'node:url';

const read = (path) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
export const {packages} = JSON.parse(read('package-lock.json'));

/** The name of the package that the lock file has at `path`, which an alias installs under another. */
export const nameAt = (path) => packages[path].name ?? path.slice(path.lastIndexOf('node_modules/') + 13);

/** The packages inside dist, `name@version` each, in the order of their names. */
export function bundledPackages() {
  const notices = read('dist/bundled-licenses.txt').split(`\n${'-'.repeat(80)}\n\n`);
  return notices.map((notice) => notice.slice(0, notice.indexOf(' (')).replace(' ', '@'));
}

/** Every package that users get, `name@version` each. */
function shippedPackages() {
  const installed = Object.keys(packages).filter((path) => path !== '' && packages[path].dev !== true);
  return new Set([...installed.map((path) => `${nameAt(path)}@${packages[path].version}`), ...bundledPackages()]);
}

/** A line for each advisory about a package that users get. */
function findings({vulnerabilities, message}) {
  if (vulnerabilities === undefined) throw new Error(`npm audit has no report: ${message}`);
  const shipped = shippedPackages();
  return Object.values(vulnerabilities).flatMap(({nodes, via}) => {
    const found = nodes.map((path) => `${nameAt(path)}@${packages[path].version}`).filter((id) => shipped.has(id));
    // Where `via` is a name, the advisory is about that package, which has an entry of its own.
    const advisories = via.filter((advisory) => typeof advisory === 'object');
    return found.flatMap((id) => advisories.map(({severity, title, url}) => `${id}: ${severity}: ${title} ${url}`));
  });
}

function withoutTools({components, dependencies, ...document}) {
  const shipped = shippedPackages();
  const refs = new Set(components.map((component) => component['bom-ref']).filter((ref) => shipped.has(ref)));
  const root = document.metadata.component['bom-ref'];
  return {
    ...document,
    components: components.filter((component) => refs.has(component['bom-ref'])),
    dependencies: dependencies
      .filter(({ref}) => ref === root || refs.has(ref))
      .map(({ref, dependsOn = []}) => ({ref, dependsOn: dependsOn.filter((other) => refs.has(other))})),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const report = await json(process.stdin);
  if (process.argv[2] === 'sbom') {
    console.log(JSON.stringify(withoutTools(report), undefined, 2));
  } else {
    const lines = findings(report);
    console.log(lines.join('\n') || 'No advisory is about a package that users get.');
    process.exitCode = lines.length > 0 ? 1 : 0;
  }
}
