// Package wire is the plumbing that every provider shares: one HTTP client, one
// reader of event streams, and one place that turns what went wrong upstream
// into a [parley.Error].
//
// A provider builds its request with the vendor's SDK and sends it through
// [Client]. A [Record] in the context keeps what the SDK would throw away:
//
//	ctx, record := wire.WithRecord(ctx)
//	res, err := sdk.Send(ctx, request)
//	if err != nil {
//		return wire.Failed(record.Last(), err).Classify()
//	}
//	defer res.Body.Close()
//	events := wire.NewEvents(res.Body)
//	for name, data := range events.All() { … }
//	return events.Err()
package wire
