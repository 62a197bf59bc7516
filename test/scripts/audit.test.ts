import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

const script = join(import.meta.dirname, '../../scripts/ci/judge-audit.mjs');
const TODAY = '2026-11-26';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quire-audit-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function judge(report: unknown, accepted: readonly object[] = []) {
  const list = join(folder, 'accepted.json');
  await writeFile(list, JSON.stringify(accepted));
  const input = typeof report === 'string' ? report : JSON.stringify(report);
  const { status, stdout } = spawnSync(process.execPath, [script, list, TODAY], { input, encoding: 'utf8' });
  return { status, stdout };
}

/** As npm 10 and 11 report one advisory about a package that another asks for. */
const FOUND = {
  auditReportVersion: 2,
  vulnerabilities: {
    express: {
      name: 'express',
      severity: 'high',
      isDirect: true,
      via: ['qs'],
      effects: [],
      range: '4.0.0 - 5.0.1',
      nodes: ['node_modules/express'],
      fixAvailable: true,
    },
    qs: {
      name: 'qs',
      severity: 'high',
      isDirect: false,
      via: [
        {
          source: 1096470,
          name: 'qs',
          dependency: 'qs',
          title: 'qs vulnerable to Prototype Pollution',
          url: 'https://github.com/advisories/GHSA-hrpp-h998-j3pp',
          severity: 'high',
          cwe: ['CWE-1321'],
          cvss: { score: 7.5, vectorString: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H' },
          range: '>=6.5.0 <6.5.3',
        },
      ],
      effects: ['express'],
      range: '6.5.0 - 6.5.2',
      nodes: ['node_modules/qs'],
      fixAvailable: true,
    },
  },
  metadata: { vulnerabilities: { info: 0, low: 0, moderate: 0, high: 2, critical: 0, total: 2 } },
};
const NOTHING = { auditReportVersion: 2, vulnerabilities: {}, metadata: {} };
const ACCEPTED = {
  advisory: 'GHSA-hrpp-h998-j3pp',
  package: 'qs',
  reason: 'no query string reaches it',
  until: '2026-12-31',
};

describe('the audit of a run', () => {
  test('fails for a finding that nobody accepted, once, and names it', async () => {
    const { status, stdout } = await judge(FOUND);
    expect(status).toBe(1);
    expect(stdout.trim().split('\n')).toEqual([
      'audit: qs (>=6.5.0 <6.5.3): high, qs vulnerable to Prototype Pollution, GHSA-hrpp-h998-j3pp',
    ]);
  });

  test('takes a finding that was accepted with a reason, until its day is over', async () => {
    expect(await judge(FOUND, [ACCEPTED])).toEqual({
      status: 0,
      stdout: expect.stringContaining('because no query string reaches it'),
    });
    expect((await judge(FOUND, [{ ...ACCEPTED, until: TODAY }])).status).toBe(0);
    const late = await judge(FOUND, [{ ...ACCEPTED, until: '2026-11-25' }]);
    expect(late).toEqual({ status: 1, stdout: expect.stringContaining('accepted until 2026-11-25 only') });
  });

  test('accepts one advisory about one package, and nothing else', async () => {
    expect((await judge(FOUND, [{ ...ACCEPTED, package: 'express' }])).status).toBe(1);
    expect((await judge(FOUND, [{ ...ACCEPTED, advisory: 'GHSA-aaaa-bbbb-cccc' }])).status).toBe(1);
  });

  test('says what is accepted and no longer found, and fails nothing for it', async () => {
    expect(await judge(NOTHING, [ACCEPTED])).toEqual({
      status: 0,
      stdout: expect.stringContaining('no longer found: qs, GHSA-hrpp-h998-j3pp'),
    });
  });

  test.each([
    [{ ...ACCEPTED, reason: ' ' }],
    [{ ...ACCEPTED, until: 'never' }],
    [{ advisory: ACCEPTED.advisory, package: 'qs', until: ACCEPTED.until }],
    [{ ...ACCEPTED, severity: 'high' }],
  ])('fails for an acceptance without a reason or a last day: %j', async (entry) => {
    expect((await judge(NOTHING, [entry])).status).toBe(1);
  });

  test.each([
    [
      'an endpoint that is not there',
      { message: '405 Method Not Allowed - POST …', statusCode: 405, error: { summary: '' } },
    ],
    [
      'a registry without audits',
      { error: { code: 'ENOAUDIT', summary: 'Your configured registry does not support audits' } },
    ],
    [
      'no network',
      {
        message: 'request to https://registry.example/ failed, reason: ENOTFOUND',
        error: { summary: '', detail: '' },
      },
    ],
    ['no answer in time', ''],
    ['an answer that is no JSON', '<html>Bad Gateway</html>'],
    ['an answer that is cut off', '{"auditReportVersion": 2, "vulner'],
  ])('fails no run for the network: %s', async (_what, report) => {
    expect(await judge(report)).toEqual({
      status: 0,
      stdout: expect.stringContaining('nothing was audited'),
    });
  });

  test('fails when there is nothing to audit', async () => {
    const report = { error: { code: 'ENOLOCK', summary: 'This command requires an existing lockfile.' } };
    expect((await judge(report)).status).toBe(1);
  });
});
