// Writes the inputs of action.yml that are settings, and their variables, from the rows of the settings.
// `npm run docs:generate` runs it.
import {readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {definitions, settingKeys, summaryOf, variableOf} from '../dist/settings/definitions.js';
import {formatted} from './formatted.js';

const sets = ['connection', 'login', 'bundle', 'push', 'wait', 'slot', 'create', 'check', 'rollback'];
const {commands} = JSON.parse(readFileSync(new URL('../oclif.manifest.json', import.meta.url), 'utf8'));

const settings = settingKeys.flatMap((key) => {
  const {flag, set, syntax} = definitions[key];
  if (flag === undefined || !sets.includes(set)) return [];
  const {type, multiple} = Object.values(commands).find(({flags}) => flag.name in flags).flags[flag.name];
  const form = type === 'boolean' ? ': true or false' : multiple ? ' (comma-separated)' : '';
  const unit = flag.value === 'SECONDS' ? ' seconds' : '';
  const hint = syntax === 'secret' ? ' Use a secret.' : '';
  const description = `${summaryOf(key).replace(/\.$/, '')}${form}${unit}.${hint}`;
  return {name: flag.name, variable: variableOf(key), description};
});

const parts = {
  inputs: settings.map(({name, description}) => `  ${name}:\n    description: ${JSON.stringify(description)}\n`),
  variables: settings.map(({name, variable}) => `        ${variable}: \${{ inputs.${name} || env.${variable} }}\n`),
};
const file = fileURLToPath(new URL('../action.yml', import.meta.url));
const filled = readFileSync(file, 'utf8').replaceAll(
  /( *# begin: (\w+)\n)[^]*?( *# end: \2\n)/g,
  (_, begin, part, end) => begin + parts[part].join('') + end,
);
writeFileSync(file, await formatted(file, filled));
