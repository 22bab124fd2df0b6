// Loaded before the tests, as the other mutated files are: what a file computes once, on import, is then left out
// (`ignoreStatic`). A test that loads it itself would count as the only one of these mutants, too late for them to
// matter.
import '../../src/http/rate-limit/index.js';
