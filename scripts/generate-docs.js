// `npm run docs:generate [NAME...]`: writes what is generated in docs, and the type of the configuration file, from the code
// and what is built. All of it, two at a time, or what is named. CONTRIBUTING tells when.
import {spawn} from 'node:child_process';
import {once} from 'node:events';

const generators = {
  action: 'node scripts/action-inputs.js',
  capabilities: 'jiti scripts/capabilities-reference.js',
  'coming-from': 'node scripts/coming-from-guide.js',
  commands: 'node scripts/commands-reference.js',
  configuration: 'jiti scripts/configuration-reference.js',
  dependencies: 'node scripts/dependencies-reference.js',
  errors: 'node scripts/errors-reference.js',
  frameworks: 'node scripts/frameworks-reference.js',
  json: 'node scripts/json-reference.js',
  names: 'jiti scripts/names-reference.js',
  llms: 'node scripts/llms-text.js',
};

const named = process.argv.slice(2);
const unknown = named.filter((name) => !Object.hasOwn(generators, name));
if (unknown.length > 0)
  throw new Error(`No page is named ${unknown.join(', ')}: ${Object.keys(generators).join(', ')}.`);

const wanted = named.length > 0 ? named : Object.keys(generators);
// llms.txt is made from the other pages, so it comes last.
const left = wanted.filter((name) => name !== 'llms');
async function generate() {
  for (let name = left.shift(); name !== undefined; name = left.shift()) {
    const [code] = await once(spawn(generators[name], {shell: true, stdio: 'inherit'}), 'close');
    if (code !== 0) {
      console.error(`The page ${name} could not be generated.`);
      process.exitCode = 1;
    }
  }
}
await Promise.all([generate(), generate()]);
if (wanted.includes('llms')) left.push('llms');
await generate();
