// Judges what `npm audit --omit=dev --json` wrote, which it reads from its input. Findings that accepted-findings.json does
// not list, or whose acceptance has run out, fail. Where npm got no answer, it says so and fails nothing. Arguments, for
// trials: another list, and another day.
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

const [
  listed = new URL('accepted-findings.json', import.meta.url),
  today = new Date().toISOString().slice(0, 10),
] = process.argv.slice(2);
const FIELDS = ['advisory', 'package', 'reason', 'until'];
/** Errors that are not of the network or the registry: without a lock file, nothing can be audited. */
const OWN_ERRORS = ['ENOLOCK', 'EAUDITNOLOCK', 'EUSAGE'];

const { accepted, faults } = readAccepted();
const report = parse(await text(process.stdin));
if (typeof report.auditReportVersion === 'number') faults.push(...judge(report));
else if (OWN_ERRORS.includes(report.error?.code))
  faults.push(`audit: ${report.error.summary ?? report.error.code}`);
else console.log(`audit: nothing was audited, because the registry gave no answer (${whyNot(report)})`);
for (const fault of faults) console.log(fault);
process.exitCode = faults.length > 0 ? 1 : 0;

function readAccepted() {
  const entries = JSON.parse(readFileSync(listed, 'utf8'));
  const bad = entries.filter(
    (entry) =>
      Object.keys(entry).toSorted().join() !== FIELDS.join() ||
      FIELDS.some((field) => typeof entry[field] !== 'string' || entry[field].trim() === '') ||
      !/^\d{4}-\d{2}-\d{2}$/.test(entry.until),
  );
  return {
    accepted: entries.filter((entry) => !bad.includes(entry)),
    faults: bad.map(
      (entry) =>
        `accepted finding without ${FIELDS.join(', ')} (a day such as 2027-01-31): ${JSON.stringify(entry)}`,
    ),
  };
}

function parse(json) {
  try {
    return Object(JSON.parse(json));
  } catch {
    return {};
  }
}

function whyNot({ message, error }) {
  return message ?? (error?.summary || error?.code) ?? 'no answer, or none in time';
}

function judge({ vulnerabilities = {} }) {
  const findings = findingsOf(vulnerabilities);
  const faultsOf = (finding) => {
    const { advisory, name, severity, title, range } = finding;
    const entry = accepted.find((each) => each.advisory === advisory && each.package === name);
    const what = `${name} (${range}): ${severity}, ${title}, ${advisory}`;
    if (!entry) return [`audit: ${what}`];
    if (entry.until < today) return [`audit: accepted until ${entry.until} only: ${what}`];
    console.log(`audit: accepted until ${entry.until}: ${what}, because ${entry.reason}`);
    return [];
  };
  for (const { advisory, package: name } of accepted) {
    if (!findings.some((each) => each.advisory === advisory && each.name === name))
      console.log(`audit: accepted, but no longer found: ${name}, ${advisory}`);
  }
  if (findings.length === 0) console.log('audit: nothing was found');
  return findings.flatMap(faultsOf);
}

/** Each advisory about a package once. What is only named there (`via` as a string) has its advisory at that package. */
function findingsOf(vulnerabilities) {
  const found = new Map();
  for (const { via = [] } of Object.values(vulnerabilities)) {
    for (const cause of via) {
      if (typeof cause === 'string') continue;
      const advisory = String(cause.url ?? cause.source).replace(/^.*\//, '');
      const { name, severity, title, range } = cause;
      found.set(`${name} ${advisory}`, { advisory, name, severity, title, range });
    }
  }
  return [...found.values()];
}
