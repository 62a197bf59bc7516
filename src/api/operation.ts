import type { ApiContext } from './context.js';
import { createCommitChange } from './services/documents/commit-change.js';
import { createDocumentChanges } from './services/documents/document-changes.js';
import { createDocumentInspection } from './services/documents/document-inspection.js';
import { createOperatorChanges } from './services/documents/operator-changes.js';
import { createAdmission } from './services/ingest/admission/admission.js';
import { createRequireRoom } from './services/ingest/admission/require-room.js';
import { createJobRequests } from './services/ingest/job-requests.js';
import { createWaitForDocument } from './services/ingest/wait-for-document.js';
import { createJobNotes } from './services/jobs/job-notes.js';
import { createRetryJob } from './services/jobs/retry-job.js';

/** Makes the views and actions of operators on documents and jobs, whoever may read them. */
export function createOperation(context: ApiContext) {
  const { settings, logger, redis, records, chunks, caches, jobs, memory, waiter } = context;
  const { waitSeconds } = settings.ingest;
  const requests = createJobRequests(jobs, logger);
  const parts = {
    records,
    admit: createAdmission(redis, settings.ingest, memory).admit,
    room: createRequireRoom(memory),
    jobs: requests,
    waitForDocument: createWaitForDocument({ records, waiter, logger, waitSeconds }),
  };
  const changes = createOperatorChanges({
    records,
    change: createCommitChange(records, requests),
    changesBy: (change) => createDocumentChanges({ ...parts, change }),
  });
  const readNotes = createJobNotes({ redis, records, caches, jobs, memory });
  return {
    changes,
    readNotes,
    inspect: createDocumentInspection({ records, chunks, jobs, readNotes }),
    retryJob: createRetryJob({ redis, records, caches, operator: changes }),
  };
}
