# What an installed dpgp must do, in a folder of its own: plan, fit, show, report, predict.
set -eu
table=$PWD/examples/girls.csv
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
dpgp --version
columns="--target height_cm:70:190 --feature age:2:18"
dpgp plan --rows 2000 $columns > plan.txt
dpgp fit "$table" $columns --epsilon 1 --delta 1e-6 --yes -o model.json > fit.txt
dpgp show model.json > show.txt
dpgp report model.json -o report.html
printf 'age\n9\n' | dpgp predict model.json - > predictions.csv
test "$(wc -l < predictions.csv)" -eq 2
