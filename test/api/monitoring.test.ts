import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { startService, type Service } from '../support/service.js';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const rulesSchema = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          alert: z.string(),
          expr: z.string(),
          labels: z.object({ severity: z.enum(['critical', 'warning', 'info']) }),
          annotations: z.object({ summary: z.string(), runbook_url: z.string() }),
        }),
      ),
    }),
  ),
});
const datasource = z.object({ uid: z.literal('${datasource}') });
const dashboardSchema = z.object({
  schemaVersion: z.number().min(39),
  templating: z.object({ list: z.array(z.object({ name: z.string(), type: z.string() })) }),
  panels: z.array(
    z.object({
      id: z.number(),
      type: z.string(),
      title: z.string(),
      gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
      datasource: datasource.optional(),
      targets: z.array(z.object({ datasource, expr: z.string() })).default([]),
    }),
  ),
});

const rules = rulesSchema.parse(parse(read('monitoring/alerts.yml'))).groups.flatMap((group) => group.rules);
const dashboard = dashboardSchema.parse(JSON.parse(read('monitoring/dashboard.json')));
const queries = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));

/** The metrics that an expression names, without those that Prometheus makes itself (`up`). */
const metricsIn = (expression: string): string[] => expression.match(/\b(?:quire|nodejs|process)_\w+/g) ?? [];

describe('the metrics that alerts and the dashboard name', () => {
  let service: Service;
  let page: string;
  beforeAll(async () => {
    service = await startService();
    page = await (await fetch(`${service.url}/metrics`)).text();
  });
  afterAll(() => service.stop());

  test('are all on the page of a running service', () => {
    const types = new Map([...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]));
    const isThere = (name: string) =>
      types.has(name) || types.get(name.replace(/_(?:bucket|sum|count)$/, '')) === 'histogram';
    const named = [...rules.map(({ expr }) => expr), ...queries].flatMap(metricsIn);
    expect(named.length).toBeGreaterThan(60);
    expect([...new Set(named)].filter((name) => !isThere(name))).toEqual([]);
  });

  test('have the lanes and states that are asked for', () => {
    const known = new Set(
      [...page.matchAll(/^quire_queue_jobs\{queue="([^"]+)",state="([^"]+)"\}/gm)].flatMap(
        ([, queue, state]) => [queue, state],
      ),
    );
    const asked = rules.flatMap(({ expr }) => [...expr.matchAll(/(?:queue|state)!?=~?"([^"]+)"/g)]);
    expect(asked.flatMap(([, values = '']) => values.split('|')).filter((each) => !known.has(each))).toEqual(
      [],
    );
  });

  test('count from 0 where a first increase would otherwise be missed', () => {
    expect(page).toMatch(/^quire_ingests_taken_back_total 0$/m);
  });
});

describe('each alert', () => {
  test('has its paragraph in docs/reference/alerts.md, and each paragraph its alert', () => {
    const headings = [...read('docs/reference/alerts.md').matchAll(/^## (Quire\w+)$/gm)].map(
      ([, name]) => name,
    );
    expect(rules.map(({ alert }) => alert)).toEqual(headings);
    for (const { alert, annotations } of rules)
      expect(annotations.runbook_url).toBe(`docs/reference/alerts.md#${alert.toLowerCase()}`);
  });
});

describe('the dashboard', () => {
  test('asks the data source that is chosen, has a choice of lanes, and no panel over another', () => {
    const { panels, templating } = dashboard;
    expect(templating.list.map(({ name, type }) => [name, type])).toEqual([
      ['datasource', 'datasource'],
      ['job', 'query'],
      ['lane', 'query'],
    ]);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${String(x + (i % w))} ${String(y + Math.floor(i / w))}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    const empty = panels.filter(({ type, targets }) => type !== 'row' && targets.length === 0);
    expect(empty).toEqual([]);
  });
});

/** The path of promtool; null where it is not installed. */
function findPromtool(): string | null {
  const path = process.env['QUIRE_TEST_PROMTOOL'] ?? 'promtool';
  return spawnSync(path, ['--version']).status === 0 ? path : null;
}

describe('promtool', () => {
  const promtool = findPromtool();
  if (promtool === null)
    process.stderr.write(
      'promtool is not installed (QUIRE_TEST_PROMTOOL names it): alerts are not checked by it\n',
    );
  const run = (...args: string[]) => {
    const cwd = new URL('../../monitoring/', import.meta.url);
    const { status, stdout, stderr } = spawnSync(promtool ?? '', args, { cwd, encoding: 'utf8' });
    return { status, output: stdout + stderr };
  };
  const testWithIt = promtool === null ? test.skip : test;

  testWithIt('accepts the rules', () => {
    expect(run('check', 'rules', 'alerts.yml')).toMatchObject({ status: 0 });
  });

  testWithIt('finds that they fire when they should, and only then', () => {
    expect(run('test', 'rules', 'alerts.test.yml')).toMatchObject({ status: 0 });
  });

  testWithIt('finds that dashboards ask what Prometheus understands', () => {
    const asked = queries.map((expr) =>
      expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'quire').replaceAll('$lane', '.*'),
    );
    const groups = [
      { name: 'dashboard', rules: asked.map((expr, i) => ({ record: `query:${String(i)}`, expr })) },
    ];
    const folder = mkdtempSync(join(tmpdir(), 'quire-dashboard-'));
    const path = join(folder, 'queries.json');
    writeFileSync(path, JSON.stringify({ groups }));
    expect(run('check', 'rules', path)).toMatchObject({ status: 0 });
    rmSync(folder, { recursive: true });
  });
});
