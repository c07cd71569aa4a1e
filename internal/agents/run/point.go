package run

// at marks a point of the loop. It does nothing: tests replace this file to stop or kill the
// process at a point. The points are, in the order of the loop:
//
//	started    the worker has taken over the run
//	said       the first messages of a conversation, or a sheet, are stored
//	reserved   the money for a model call is reserved, and nothing has been sent
//	answered   the model has answered, and nothing of the answer is stored
//	settled    the answer is stored, and none of its calls has been made
//	called     an op has run in a batch that is still open
//	committed  a tool call and its lines are stored
//	rehearsed  an op has been rehearsed in a batch that is still open
//	awaited    the job of a long op has been awaited, and its result is not stored
//	ending     the last batch is written but not committed
//	ended      the run has ended, but its job has not
func at(_ string) {}
