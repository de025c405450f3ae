// libpq, and the few of its names that Swift cannot see or that differ between its versions.
#pragma once

#include <libpq-fe.h>

// The field codes of an error report are character constants in macros, which Swift does not import.
static const int CLIBPQ_DIAG_SEVERITY = PG_DIAG_SEVERITY_NONLOCALIZED;
static const int CLIBPQ_DIAG_SQLSTATE = PG_DIAG_SQLSTATE;
static const int CLIBPQ_DIAG_MESSAGE = PG_DIAG_MESSAGE_PRIMARY;
static const int CLIBPQ_DIAG_CONSTRAINT = PG_DIAG_CONSTRAINT_NAME;
static const int CLIBPQ_DIAG_CONTEXT = PG_DIAG_CONTEXT;
static const int CLIBPQ_DIAG_SOURCE_FUNCTION = PG_DIAG_SOURCE_FUNCTION;

/// Appends a sync point. From libpq 17 it waits in the output buffer for the next flush; before that, libpq flushes
/// at every sync point, which costs one `send` for each.
static inline int clibpq_append_sync_point(PGconn *connection) {
#ifdef LIBPQ_HAS_SEND_PIPELINE_SYNC
  return PQsendPipelineSync(connection);
#else
  return PQpipelineSync(connection);
#endif
}
