import {legacyReads} from './requests.js';
import {testMatrix} from './test-matrix.js';

testMatrix(legacyReads);
