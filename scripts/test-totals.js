// What the reports of the test runner amount to: each test that failed with the first line of its message, then one
// line of numbers. `.ci/run` prints it last, because of a long output often only the end is kept.
import {readdirSync, readFileSync} from 'node:fs';

const names = readdirSync('coverage').filter((name) => name.endsWith('tests.json'));
const reports = names.map((name) => JSON.parse(readFileSync(`coverage/${name}`, 'utf8')));
const files = reports.flatMap(({testResults}) => testResults);

for (const {name, message, assertionResults} of files) {
  const failed = assertionResults.filter(({status}) => status === 'failed');
  if (failed.length === 0 && message) console.log(`✗ ${name}\n  ${message.split('\n')[0]}`);
  for (const {fullName, failureMessages} of failed) {
    console.log(`✗ ${name} ${fullName}\n  ${failureMessages[0]?.split('\n')[0] ?? ''}`);
  }
}

const sum = (count) => reports.reduce((total, report) => total + count(report), 0);
const passed = sum((report) => report.numPassedTests);
const failed = sum((report) => report.numFailedTests);
const skipped = sum((report) => report.numPendingTests + report.numTodoTests);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
