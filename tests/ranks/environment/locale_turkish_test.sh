#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Real locales: in Turkish, the capital of i is not I; in German, numbers have a decimal comma.
. "$(dirname "$0")/../../common.sh" "$1"
need_package locales localedef /usr/share/i18n/locales/tr_TR
for name in tr_TR de_DE; do localedef -i $name -f UTF-8 "$folder/$name.UTF-8" 2>"$folder/err" || skip "$(cat "$folder/err")"; done
export LOCPATH=$folder
for name in tr_TR de_DE; do
    for wait in dedicated shared; do
        export TUTTI_WAIT=$wait
        run -n 2 "$build/tests/ranks_environment_locale" . $name.UTF-8
        expect_code 0; expect_silence
        what="alone in $name"
        "$build/tests/ranks_environment_locale" . $name.UTF-8 >"$folder/out" 2>"$folder/err"; code=$? err=$(cat "$folder/err")
        expect_code 0; expect_silence
    done
done
finish
