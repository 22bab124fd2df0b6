import type {BackendsHook} from 'mycli/backend';
import {webdavBackend} from '../backend.js';

const hook: BackendsHook = async () => ({backends: [webdavBackend]});

export default hook;
