package fakeai_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"parley/fakeai"
)

func Example() {
	up := fakeai.Start()
	defer up.Close()
	up.Script("gpt-5", fakeai.Script{Text: "four"})
	up.Enqueue("gpt-5", fakeai.Script{Status: http.StatusTooManyRequests, Message: "slow down"})

	ask := func() {
		resp, err := http.Post(up.OpenAI()+"/responses", "application/json",
			strings.NewReader(`{"model":"gpt-5","instructions":"be brief","input":"2+2?"}`))
		if err != nil {
			fmt.Println(err)
			return
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		fmt.Println(resp.StatusCode, strings.Contains(string(body), "four"))
	}
	ask()
	ask()
	fmt.Println(strings.ReplaceAll(up.Requests()[1].Text(), "\n", " / "))
	// Output:
	// 429 false
	// 200 true
	// be brief / 2+2?
}
