// `npm run docs:mutation`: writes docs/reference/mutation.md from the report of the last `npm run test:mutation` and
// test/mutation/survivors.js. Fails when the reasons of a file do not cover exactly as many mutants as survive in it.
import {readFileSync, statSync, writeFileSync} from 'node:fs';
import {kinds, survivors} from '../test/mutation/survivors.js';

const report = new URL('../coverage/mutation/report.json', import.meta.url);
const folders = ['src/backends', 'src/bundle', 'src/http/rate-limit'];

/** How many of these mutants ended in each of the ways that count, and how many of them were detected. */
function countsOf(mutants) {
  const count = (status) => mutants.filter((mutant) => mutant.status === status).length;
  const [killed, timedOut, survived, uncovered] = ['Killed', 'Timeout', 'Survived', 'NoCoverage'].map(count);
  const [detected, undetected] = [killed + timedOut, survived + uncovered];
  const total = detected + undetected;
  return {killed, timedOut, survived, uncovered, detected, undetected, total, ignored: count('Ignored')};
}

function row(name, mutants) {
  const {killed, timedOut, survived, uncovered, detected, total} = countsOf(mutants);
  const score = ((100 * detected) / total).toFixed(1);
  return `| ${name} | ${total} | ${killed} | ${timedOut} | ${survived} | ${uncovered} | ${score} % |`;
}

const {files} = JSON.parse(readFileSync(report, 'utf8'));
const mutantsOf = new Map(
  Object.entries(files)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, {mutants}]) => [file, mutants]),
);
const tested = [...mutantsOf].filter(([, mutants]) => countsOf(mutants).total > 0);

const absent = folders.filter((folder) => !tested.some(([file]) => file.startsWith(`${folder}/`)));
if (absent.length > 0) {
  console.error(`The last report is of a part only, without ${absent.join(' and ')}: run npm run test:mutation.`);
  process.exit(1);
}

const problems = [];
for (const file of new Set([...mutantsOf.keys(), ...Object.keys(survivors)])) {
  const {undetected} = countsOf(mutantsOf.get(file) ?? []);
  const explained = (survivors[file] ?? []).reduce((sum, {count}) => sum + count, 0);
  if (undetected !== explained) problems.push(`${file}: ${undetected} survive, the reasons cover ${explained}.`);
}
if (problems.length > 0) {
  console.error(
    `${problems.join('\n')}\nMend them by tests or simpler code, or say why in test/mutation/survivors.js.`,
  );
  process.exit(1);
}

const all = [...mutantsOf.values()].flat();
const head = `| | mutants | killed | timed out | survived | not covered | score |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |`;
const byFolder = folders.map((folder) =>
  row(
    `\`${folder}\``,
    tested.filter(([file]) => file.startsWith(`${folder}/`)).flatMap(([, mutants]) => mutants),
  ),
);
const reasons = tested
  .filter(([file]) => Object.hasOwn(survivors, file))
  .map(([file]) => {
    const items = survivors[file].map(({count, kind, why}) => `- ${count} × ${kind}: ${why}`);
    return `### \`${file}\`\n\n${items.join('\n')}\n`;
  });

const page = `# Mutation testing

<!-- Written by scripts/mutation-reference.js from Stryker's report and test/mutation/survivors.js. -->

[Stryker](https://stryker-mutator.io) changes the code in one small place at a time and runs the tests that reach it. A mutant
that no test notices survives: a test is missing, the code does more than it must, or there is a reason, given below. The score is
the share that was noticed; a mutant that never ends is noticed by the time-out. \`npm run test:mutation\` fails below 85 %.

Last run on ${statSync(report).mtime.toISOString().slice(0, 10)}, with the tests that call the code themselves: not with those that run the built
binary, nor with the fault matrix. ${countsOf(all).ignored} mutants of what is computed once, on import, are left out (\`ignoreStatic\`): each would
need a process of its own and all tests.

${head}
${byFolder.join('\n')}
${row('together', all)}

## By file

${head}
${tested.map(([file, mutants]) => row(`\`${file}\``, mutants)).join('\n')}

## What survives, and why

${Object.entries(kinds)
  .map(([kind, meaning]) => `- **${kind}**: ${meaning}.`)
  .join('\n')}

${reasons.join('\n')}`;

writeFileSync(new URL('../docs/reference/mutation.md', import.meta.url), page);
